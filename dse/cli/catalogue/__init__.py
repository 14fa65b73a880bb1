"""Commands that list and show networks, platforms and dataflow graphs."""
