"""Upper bounds on latencies for all times within their tolerance, if units keep their order."""
