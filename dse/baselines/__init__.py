"""Schedulers that others proposed, each in a file of its own, to hold our fronts against."""
