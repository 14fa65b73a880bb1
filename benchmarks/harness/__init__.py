"""The common part of benchmarks: options, tables, clocks, and the same measurement at another
commit."""
