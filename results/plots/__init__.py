"""Figures with matplotlib: fronts, schedules, convergence, energy."""
