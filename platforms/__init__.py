"""Chips: units, clock domains with their operating points, power and measurements, read from JSON
files with a source for every figure."""
