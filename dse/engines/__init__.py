"""The registry of optimizers by name, and the diagnosis of problems without a feasible point."""
