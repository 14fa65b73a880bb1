"""Trained weights that come with the program."""
