"""Speed, measured: each module prints a table, or figures for programs with ``--json``."""
