"""The origins of costs, per group and unit, and the document ``costs.json``."""

from paretosoc.results.costs.cost_origins import CostError, CostOrigin, CostOrigins, UnitOrigin

__all__ = ["CostError", "CostOrigin", "CostOrigins", "UnitOrigin"]
