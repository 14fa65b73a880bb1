"""MapFormer's modes of operation, as names for ``--mode``; nothing heavy is loaded for them."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    """MapFormer's modes of operation (5.2); names for ``--mode``."""

    HIGH_PERFORMANCE = "HP"
    PERFORMANCE_BOOST = "PB"
    STANDARD = "SM"
    POWER_REDUCE = "PR"

    @property
    def throughput_weight(self) -> float:
        """W_T of Eq. 1."""
        return _WEIGHTS[self][0]

    @property
    def power_weight(self) -> float:
        """W_P of Eq. 1."""
        return _WEIGHTS[self][1]


_WEIGHTS = {
    Mode.HIGH_PERFORMANCE: (1.0, 0.0),
    Mode.PERFORMANCE_BOOST: (0.7, 0.3),
    Mode.STANDARD: (0.5, 0.5),
    Mode.POWER_REDUCE: (0.3, 0.7),
}
