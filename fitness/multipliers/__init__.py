"""Finds good multipliers for bounds over boxes of operating points, in floating point.

The proofs of :mod:`fitness.check.boxes` hold whichever multipliers are found here.
"""
