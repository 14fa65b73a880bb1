"""The search: from networks and a platform to a Pareto front."""
