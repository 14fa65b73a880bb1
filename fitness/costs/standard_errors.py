"""How far the costs of groups may be off, by where they come from.

All are scales of Student's t (:class:`results.costs.cost_origins.CostError`), in thousandths. They
are from ``python -m benchmarks.validation`` and ``python -m benchmarks.fit_costs``, whose errors
are medians: that of the distribution is 0.76 of its scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from paretosoc.fitness.costs.fitted import ModelledGroup
from paretosoc.fitness.costs.measured import MeasuredGroup
from paretosoc.platforms.measurement import Clocks
from paretosoc.platforms.platform import Peak
from paretosoc.results.costs.cost_origins import MAX_ERROR_PERMILLE, CostError

SHARES = 250
"""Error of a group's share in the time of its network, if estimated. GoogLeNet's ten groups on
Xavier are off by 0.28 (GPU) and 0.19 (DLA)."""
ONE_CLOCK = 70
"""Error of the exponents of a network's time over clocks, if no run at several tells them: 0.06 in
the median of ten (``python -m benchmarks.measuring --exponents``), 0.02 without the six of one
network that TensorFlow ran. At other clocks, times from one run are off by 0.3 to 6.5 % in the
median, 1 to 15 at worst."""
SEVERAL_CLOCKS = 20
"""The same from runs at several clocks, where times are off by 0.4 to 4.5 % in the median."""
REPEATED = 20
"""Error of a measurement against a repetition of it: 1.0 to 1.2 % in the median, at worst 6.6."""
OF_A_BATCH = 150
"""Error of the time of a batch, from the time of one image: 2.5 to 38 % in the median."""
POWER = 200
"""Error of power by the platform file, most of which is assumed. Two submissions of one board
differ by 22 % in the median."""
MEASURED_POWER = 50
"""Error of measured power at other clocks: 3 % in the median."""
IDLE_POWER = 200
"""Error of all power that is drawn whatever runs."""
MEASURED_IDLE = 50
"""Error of measured power that is drawn whatever runs, at other clocks."""
DEMAND = 1000
"""Error of the bandwidth that a unit's groups ask for beside others. With it and the next, 22 of 24
published co-runs under given schedules are within their intervals of 90 %, without them 11
(``python -m benchmarks.validation.co_run_intervals``)."""
SHARING_OVERHEAD = 500
"""Error of the overhead of a shared unit: fits that leave out one pair of four give 16 to 19 %, a
board 12 %, networks alone on the GPU 11 to 14 %."""
NOBODY_MEASURED = CostError(unit=350, network=300, group=SHARES, power=POWER, clock=ONE_CLOCK)
"""Errors of a unit that no fit contains. On CPUs and NPUs that were left out of a fit, the part
that networks have in common is 0.3 to 0.6, the rest 0.2 to 0.3."""


def estimated(peak: Peak) -> CostError:
    """Return the error of an estimate."""
    if peak.error is None:
        return NOBODY_MEASURED
    unit, network = peak.error.permille
    return replace(NOBODY_MEASURED, unit=unit, network=network)


def calibrated(batch: int, clocks_khz: Clocks) -> CostError:
    """Return the error of an estimate that was scaled to one measured time, of one image, at such
    clocks."""
    network = REPEATED if batch == 1 else OF_A_BATCH
    return CostError(network=network, group=SHARES, power=POWER, clock=ONE_CLOCK, at_khz=clocks_khz)


def fitted(model: ModelledGroup) -> CostError:
    """Return the error of a fit over clocks: that of its kind, or what its measurements are off by
    if that is more."""
    powered = model.dynamic_mw is not None
    return CostError(
        network=_at_least(REPEATED, model.time_residual),
        group=SHARES if model.is_share else REPEATED,
        power=_at_least(MEASURED_POWER, model.power_residual) if powered else POWER,
        clock=ONE_CLOCK if model.is_one_clock else SEVERAL_CLOCKS,
    )


def measured(entries: Sequence[MeasuredGroup]) -> CostError:
    """Return the error of a group that was measured, at one set of clocks or several. With several
    the error of clocks is counted from the fastest set."""
    has_power = any(entry.power_mw is not None for entry in entries)
    return CostError(
        network=REPEATED,
        group=REPEATED if all(entry.is_alone for entry in entries) else SHARES,
        power=MEASURED_POWER if has_power else POWER,
        clock=ONE_CLOCK if len(entries) == 1 else SEVERAL_CLOCKS,
        at_khz=max((entry.profile.clocks_khz for entry in entries), key=_product),
    )


def _at_least(permille: int, residual: float) -> int:
    return max(permille, min(MAX_ERROR_PERMILLE, round(1000 * residual)))


def _product(clocks_khz: Clocks) -> int:
    return prod(khz for _, khz in clocks_khz)
