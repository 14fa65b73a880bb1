"""Optimizers: NSGA-II, annealing, random, exhaustive, and adapters for pymoo. One file each."""
