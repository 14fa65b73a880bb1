"""MapFormer's estimator: data from the timeline or a board, a transformer, its weights."""
