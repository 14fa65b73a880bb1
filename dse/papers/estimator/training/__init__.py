"""Training of the estimator: random workloads, data set, PyTorch loop, accuracy."""
