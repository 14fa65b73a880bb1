"""Costs of the groups of a network on every unit and operating point: measured, calibrated or
estimated. :func:`~fitness.costs.network_costs.network_costs` is the entry."""
