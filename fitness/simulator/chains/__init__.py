"""Compiled simulators for networks that are chains: sixteen design points side by side."""
