"""This machine as a platform: measurements, execution of members, fidelity."""
