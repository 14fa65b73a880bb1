"""What to measure next on a board, and what the measurements say."""
