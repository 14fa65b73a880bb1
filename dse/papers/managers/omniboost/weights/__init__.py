"""OmniBoost's trained weights that come with the program."""
