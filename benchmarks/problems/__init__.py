"""The problems that are measured: random ones, the reference problem, published samples."""
