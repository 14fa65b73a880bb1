"""Accuracy of predictions against published measurements, and of estimates against their
originals."""
