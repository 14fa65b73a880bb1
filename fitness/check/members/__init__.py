"""Members played anew: timelines, outcomes and guaranteed latencies, in Python's integers."""
