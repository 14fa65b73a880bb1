"""A cost model: all groups take longer on a board that is warm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

PERCENT = 105
"""Of the time on a cold board."""


def warm_board(network: Any, platform: Any, costs: Any) -> Any:
    """Return costs with longer times. -1, for groups that a unit cannot run, stays."""
    del network, platform
    units = tuple(
        replace(unit, time_ps=np.where(unit.time_ps > 0, unit.time_ps * PERCENT // 100, -1))
        for unit in costs.units
    )
    return replace(costs, units=units)
