"""Costs of groups on units, the simulator under memory contention, bounds, check of proofs."""
