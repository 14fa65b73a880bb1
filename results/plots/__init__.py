"""Pictures: fronts, schedules, convergence, energy."""
