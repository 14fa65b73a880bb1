"""Fits of the cost model's figures to measured networks."""
