"""Measurements on this machine: execution times, demands, fidelity of predictions."""
