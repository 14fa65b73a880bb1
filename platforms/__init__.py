"""Where it can run: units, clock domains, memory, contention and power figures of chips."""
