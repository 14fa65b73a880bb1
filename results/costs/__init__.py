"""The origins of costs, per group and unit, and the document ``costs.json``."""

from paretosoc.results.costs.cost_origins import CostOrigin, CostOrigins, UnitOrigin

__all__ = ["CostOrigin", "CostOrigins", "UnitOrigin"]
