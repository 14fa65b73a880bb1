"""The estimator that simulates nothing."""
