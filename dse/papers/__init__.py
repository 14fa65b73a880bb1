"""Methods of the four papers beyond the core: a user of the tool may skip this shelf."""
