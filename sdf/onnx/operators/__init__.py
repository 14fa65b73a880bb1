"""Operators: their kinds, the shapes of their results, windows, attention, Einstein summation."""
