"""Scaling of the estimates of a unit by measured times of other networks on it.

An estimate is off by an error that all networks on the unit have in common in one number format,
and by one of the network (:mod:`fitness.costs.standard_errors`). The logarithms of measured times
over their estimates, one per network, are each the common error plus one of the network and of the
measurement. The common error is normal with the standard deviation u. The rest follows Student's t
with v degrees of freedom and the scale s, s^2 = n^2 + r^2 of network and measurement: a network
that is far off says little of the others. Given the logarithms y_i, the common error is taken at m,
the maximum of its density next to the estimate, with the standard error of the information in k
networks:

    m = sum of w_i y_i / (1 / u^2 + sum of w_i),    w_i = (v + 1) / (v s^2 + (y_i - m)^2)
    1 / sqrt(1 / u^2 + k (v + 1) / ((v + 3) s^2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp, hypot, log, sqrt
from statistics import fmean

from paretosoc.common.units import TAIL, percent_off
from paretosoc.fitness.cost_model.clock_law import TimeParts
from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.fitness.cost_model.roofline import network_parts, unit_model
from paretosoc.fitness.costs.scale_to_measured import clock_ratios
from paretosoc.fitness.costs.standard_errors import REPEATED
from paretosoc.platforms.measurement import Clocks, Comparison, plain_name
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.platforms.source import round_half_up
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.sdf.grouping.groups import GroupedNetwork

STEPS = 1000
"""Factors are whole numbers over this, so that they are the same on every machine."""
ROUNDS = 100
"""Rounds that find the common error, from the estimate on."""
MOST_SCALES = 3
"""A measured time that is off by more scales of its error lets doubt how the board ran."""


def compared(
    network: GroupedNetwork,
    platform: Platform,
    unit: Unit,
    precision: str,
    clocks: Clocks,
    measured_ps: Mapping[int, int],
) -> Comparison | None:
    """Return measured times of groups, by index, beside their estimates at the same clocks.

    None if less than half of the network, by the estimate, was measured, or the unit does not
    compute in the precision.
    """
    peak = unit.peak_by_format.get(precision)
    if peak is None:
        return None
    parts = network_parts(
        network_launches(network, unit.separate_operations), unit_model(unit, platform, peak)
    )
    ratios = clock_ratios(unit, platform, clocks)
    times = [part.at(ratios) for part in parts]
    estimate = sum((times[index] for index in measured_ps), Fraction(0))
    if not estimate or 2 * estimate < sum(times):
        return None
    measured = sum(measured_ps.values())
    return Comparison(network.name, unit.name, precision, measured, round_half_up(estimate))


def posterior(before: CostError, comparisons: Sequence[Comparison]) -> tuple[Fraction, CostError]:
    """Return the factor of the estimates of a unit in a number format, and their errors with it.

    Args:
        before: errors of estimates.
        comparisons: of this unit in this format. Several of one network count as their mean.
    """
    logs: dict[str, list[float]] = {}
    for one in comparisons:
        logs.setdefault(plain_name(one.network), []).append(log(one.measured_ps / one.estimated_ps))
    errors = [STEPS * fmean(found) for found in logs.values()]
    variance, scale = before.unit**2, before.network**2 + REPEATED**2
    common = 0.0
    for _ in range(ROUNDS):
        weights = [(TAIL + 1) / (TAIL * scale + (error - common) ** 2) for error in errors]
        weighted = sum(one * error for one, error in zip(weights, errors, strict=True))
        common = variance * weighted / (1 + variance * sum(weights))
    factor = Fraction(max(1, round(STEPS * exp(common / STEPS))), STEPS)
    known = variance * len(errors) * (TAIL + 1) / (TAIL + 3) / scale
    return factor, replace(before, unit=round(before.unit / sqrt(1 + known)))


def scaled(part: TimeParts, factor: Fraction) -> TimeParts:
    """Return an estimate times a factor, no launch faster than the unit or the memory allows."""
    bounded = max(factor, part.peak_share)
    return part.scaled(bounded, bounded, factor)


def beyond_error(before: CostError, comparisons: Sequence[Comparison]) -> str:
    """Return which measured times are more than ``MOST_SCALES`` errors from their estimates, what
    to check then, or an empty text.

    Args:
        before: errors of estimates, without these.
    """
    most = MOST_SCALES * hypot(before.of_network, REPEATED) / 1000
    far = [
        f"{one.network} on {one.unit} takes {one.measured_ps / one.estimated_ps:.2f} times its "
        "estimate"
        for one in comparisons
        if abs(log(one.measured_ps / one.estimated_ps)) > most
    ]
    if not far:
        return ""
    off = percent_off(before.of_network)
    return (
        f"{', '.join(far)}, far beyond the stated error (about {off} % in the median): check "
        "clocks, power mode and heat of the board"
    )


def words(
    factor: Fraction, before: CostError, error: CostError, comparisons: Sequence[Comparison]
) -> str:
    """Return how an estimate was scaled, and its error before and with it, in words."""
    beyond = beyond_error(before, comparisons)
    names = ", ".join(dict.fromkeys(one.network for one in comparisons))
    return (
        f"an estimate times {float(factor):g}, by the measured {names} on {comparisons[0].unit}: "
        f"about {percent_off(error.of_network)} % off in the median{beyond and f'; {beyond}'}"
    )
