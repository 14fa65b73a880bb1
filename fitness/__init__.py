"""How long and how much energy: costs, contention, the timeline, throughput and energy."""
