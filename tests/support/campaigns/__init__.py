"""Campaigns of runs that take no time, and processes that are killed while they work on one."""
