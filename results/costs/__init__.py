"""If costs are from, per group and unit, and the document of costs.json."""

from results.costs.cost_origins import CostOrigin, CostOrigins, UnitOrigin

__all__ = ["CostOrigin", "CostOrigins", "UnitOrigin"]
