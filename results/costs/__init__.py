"""The origins of costs, per group and unit, and the document ``costs.json``."""

from paretosoc.results.costs.cost_origins import (
    CostError,
    CostMeasurement,
    CostOrigin,
    CostOrigins,
    UnitOrigin,
)

__all__ = ["CostError", "CostMeasurement", "CostOrigin", "CostOrigins", "UnitOrigin"]
