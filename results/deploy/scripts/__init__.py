"""Beginnings of the scripts that deployments write."""
