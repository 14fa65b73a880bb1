"""Kinds of nodes of a proof's tree (:mod:`results.front.proof_tree`), also for kernels."""

SPLIT, PART, MEMBERS, TRADE_OFF, TIME_LIMIT, POWER_LIMIT = range(6)
"""Split into children; the root of a further part; closed, because of: a member at least as good as
its bounds; members that leave no room between makespan and energy; a deadline or the period; a
power cap or an energy budget."""
NODE_KINDS = ("split", "part", "members", "trade-off", "time limit", "power limit")
