"""Deployment of a member: target formats, model parts, and their check against the whole model."""
