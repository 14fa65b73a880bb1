"""Conversions between the integers of tables and files and the units that people read."""

from __future__ import annotations

from math import expm1

PS_PER_NS = 10**3
PS_PER_US = 10**6
PS_PER_MS = 10**9
PS_PER_S = 10**12
UHZ_PS = 10**18
"""1 / (1 ps) in uHz."""
UHZ_PER_HZ = 10**6
KBPS_PER_GBPS = 10**6
FJ_PER_MJ = 10**12
FJ_PER_J = 10**15
UW_PER_MW = 10**3
UW_PER_W = 10**6
PPM = 10**6
PPM_PER_PERCENT = 10**4
BYTES_PER_MB = 10**6
NS_PER_MS = 10**6
NS_PER_S = 10**9
TRAFFIC_PER_BYTE = 10**9
"""bytes / ps = 10^9 kB/s, and bytes / (kB/s) = 10^9 ps."""

TAIL = 3
"""Degrees of freedom of Student's t, which the logarithms of times and powers are off by."""
ONE_OF_TWO, NINE_OF_TEN = 0.7649, 2.3534
"""Scales within which that is with a probability of 50 and of 90 %."""


def percent_off(permille: int, scales: float = ONE_OF_TWO) -> int:
    """Return by how many percent a figure is off at so many scales of the error of its logarithm,
    of which one is ``permille`` thousandths."""
    return round(100 * expm1(scales * permille / 1000))
