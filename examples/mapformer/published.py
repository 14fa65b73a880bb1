"""What MapFormer prints; figures that only its pictures show are not in its text."""

from __future__ import annotations

ACCURACY_PERCENT = {
    "MOSAIC": (46.5, 55.8),
    "ODMDEF": (49.7, None),
    "OmniBoost": (72.4, None),
    "MapFormer": (89.2, 92.3),
}
"""Table 3: throughput and power. MOSAIC's and OmniBoost's are coefficients of determination,
ODMDEF's and MapFormer's shares of classes predicted exactly (5.1)."""

GAIN_PERCENT = {
    6: {"MOSAIC": 76.4, "ODMDEF": 62.7, "GA": 52.8, "OmniBoost": 41.7, "OmniBoost*": 31.1},
    8: {"MOSAIC": 81.1, "ODMDEF": 69.6, "GA": 67.1, "OmniBoost": 50.4, "OmniBoost*": 31.2},
    10: {"MOSAIC": 90.8, "ODMDEF": 89.9, "GA": 87.8, "OmniBoost": 84.9, "OmniBoost*": 78.4},
}
"""Fig. 7 as 5.3 says it: MapFormer's efficiency over the others', mean improvement in percent by
the number of networks; for ten of them at 10 W alone. See :func:`gain_percent`."""

OMNIBOOST_LESS_EFFICIENT_PERCENT = 56.4
"""5.4: how much less efficient than MapFormer's its mappings are on average."""
GA_WORSE_THAN_OMNIBOOST_PERCENT = 28.0
"""5.1: on average, of the trade-off of throughput and power."""


def gain_percent(winner: float, other: float) -> float:
    """The improvement of one efficiency over another by the paper's definition: 100 (1 - other /
    winner), which cannot reach 100.

    The paper prints no formula. All its gains are below 100, and what it says elsewhere of two
    managers fits this one: OmniBoost, with gains over it of 41.7, 50.4 and 84.9, is 56.4 % less
    efficient than MapFormer (their mean is 59.0; by winner / other - 1 it would be 36.3), and the
    genetic algorithm 28 % worse than OmniBoost (24.0; by the other definition 6.3).
    """
    return 100.0 * (1.0 - other / winner)


RESPONSE_S = {"MOSAIC": 1.0, "ODMDEF": 3.0, "OmniBoost": 60.0, "GA": 7200.0, "MapFormer": 23.0}
"""5.4, on the board."""

POWER_REDUCE_SAVES_PERCENT = {"HP": 63.9, "PB": 47.8, "SM": 42.2}
"""Fig. 6(b) as 5.2 says it: how much less power mode PR draws than each other one."""
