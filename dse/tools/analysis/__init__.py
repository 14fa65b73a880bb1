"""Comparison with baselines, robustness against errors in costs, dataflow graphs of members."""
