"""Bounds over boxes of operating points: how far a front can be from the truth, at any size."""
