"""Inputs made by hand or at random: problems and their spaces, networks, graphs, workload files."""
