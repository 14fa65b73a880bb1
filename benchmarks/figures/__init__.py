"""Figures of the README and of pages, held against the output of the commands that print them."""
