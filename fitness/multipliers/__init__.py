"""Finds good multipliers for bounds over boxes of operating points, in floating point.

What :mod:`fitness.check.boxes` proves with them holds whatever is found here.
"""
