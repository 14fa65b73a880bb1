"""Kernels of the exact search: branching, lower bounds, limits, archive of solutions, snapshots."""
