"""The origins of costs, per group and unit, and the document ``costs.json``."""
