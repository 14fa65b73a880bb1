"""Finds good multipliers for bounds over boxes of operating points, in floating point.

What :mod:`fitness.bound_checker` proves with them holds whatever is found here.
"""
