"""The memory demand of a unit that no profiler looks into, in four steps (HaX-CoNN 3.3).

1. The demand of every group on the GPU is measured (Nsight Compute).
2. The load of the memory controller (EMC) is measured while each group runs on the GPU, and again
   while it runs on the other unit.
3. The demand there is the GPU's, divided by the ratio of the two loads, GPU over unit.
4. The contention model turns demands into slowdowns; that is the timeline's.

``tegrastats`` prints loads in integer percent, so a small load makes a coarse ratio: every estimate
carries the interval that half a percent either way leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

HALF_PERCENT = Fraction(1, 2)


@dataclass(frozen=True)
class DemandEstimate:
    """Demand in GB/s, with the bounds that rounded loads leave."""

    gbps: Fraction
    least: Fraction
    most: Fraction | None
    """None where the GPU's load may be nothing."""


def estimate_demand(
    gpu_gbps: Fraction, gpu_emc_percent: Fraction, unit_emc_percent: Fraction
) -> DemandEstimate | None:
    """Step 3; None where the GPU's load is 0, which no ratio can be made of."""
    if gpu_emc_percent <= 0:
        return None
    low = gpu_emc_percent - HALF_PERCENT
    return DemandEstimate(
        gbps=gpu_gbps * unit_emc_percent / gpu_emc_percent,
        least=gpu_gbps
        * max(unit_emc_percent - HALF_PERCENT, Fraction(0))
        / (gpu_emc_percent + HALF_PERCENT),
        most=gpu_gbps * (unit_emc_percent + HALF_PERCENT) / low if low > 0 else None,
    )
