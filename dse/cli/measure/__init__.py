"""Commands for measurements: import, calibrate, profile, run, fidelity, contention."""
