"""Readers of the tables of measured networks that vendors publish."""
