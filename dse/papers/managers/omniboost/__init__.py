"""OmniBoost: tree search with a convolutional estimator of throughput."""
