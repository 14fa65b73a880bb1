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
the number of networks; for ten of them at 10 W alone."""

RESPONSE_S = {"MOSAIC": 1.0, "ODMDEF": 3.0, "OmniBoost": 60.0, "GA": 7200.0, "MapFormer": 23.0}
"""5.4, on the board."""

POWER_REDUCE_SAVES_PERCENT = {"HP": 63.9, "PB": 47.8, "SM": 42.2}
"""Fig. 6(b) as 5.2 says it: how much less power mode PR draws than each other one."""
