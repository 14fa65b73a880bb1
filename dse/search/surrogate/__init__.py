"""Cheap bounds and estimates that seed a search: load balancing, lower bounds, mean values."""
