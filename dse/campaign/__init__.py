"""Campaigns: many explorations from one file, in a store that survives whatever ends them."""
