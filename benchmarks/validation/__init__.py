"""The cost model against other people's published measurements."""
