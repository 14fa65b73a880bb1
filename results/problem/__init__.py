"""The numeric problem (costs in integers, clock domains, constraints, objectives) and
``problem.json``.

From here on nothing refers to networks or platforms.
"""
