"""Loading of machine code ahead of a search, so that its time limit does not count compilation."""
