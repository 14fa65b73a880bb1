"""MapFormer's estimator of throughput and power: tokens, network, inference."""
