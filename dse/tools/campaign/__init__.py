"""Campaigns: many explorations from one file, resumable, on all cores or a cluster."""
