"""Fits to measurements: times and powers over clocks (DVFS), slowdown by memory traffic (PCCS)."""
