"""Measuring and running on the machine at hand."""
