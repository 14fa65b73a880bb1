"""Broken inputs and killed processes by the thousand: what must not happen."""
