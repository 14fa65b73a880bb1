"""``dse papers``: commands and options of single papers."""
