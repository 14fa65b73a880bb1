"""Makers of the catalogue's tables of networks."""
