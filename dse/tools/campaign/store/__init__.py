"""The store of runs: SQLite and packed results that survive killed processes."""
