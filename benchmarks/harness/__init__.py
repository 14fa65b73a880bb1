"""What benchmarks share: options, tables, clocks, and the same measurement at another commit."""
