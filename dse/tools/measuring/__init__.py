"""Plans of measurements on a board, and decisions from their results."""
