"""MapFormer's Latent Action Monte Carlo Tree Search over a predictor."""
