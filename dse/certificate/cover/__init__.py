"""Covers of the space by the leaves of a tree, for solvers."""
