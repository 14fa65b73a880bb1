"""The speed of other parts: closed form, long run, tree search, campaigns."""
