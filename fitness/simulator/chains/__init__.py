"""Compiled simulator for one or two chains: sixteen design points side by side."""
