"""The schedulers: initial schedule, retiming, cache allocation, SPARTA, Memolution."""
