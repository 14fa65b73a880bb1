"""What every package uses: the base of all errors, and texts that are safe to print."""
