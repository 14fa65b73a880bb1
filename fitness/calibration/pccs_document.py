"""A fit of the contention model as the JSON of a platform file, and its error as it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import KBPS_PER_GBPS
from paretosoc.fitness.calibration.pccs_fit import ContentionFit, FittedParameter
from paretosoc.fitness.calibration.pccs_sweep import Sweep
from paretosoc.fitness.contention import contention_table, lost_rate
from paretosoc.platforms.platform import Contention
from paretosoc.platforms.source import Source, Status
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import WORK_PER_PS

BANDWIDTH_DECIMALS = (2, 1)
"""Decimals of bandwidths in GB/s to choose from; the better fit is taken."""
DENOMINATORS = tuple(
    sorted(
        2**twos * 5**fives for twos in range(12) for fives in range(6) if 2**twos * 5**fives <= 4000
    )
)
"""Denominators of percentages: those of short decimals. The integer model needs small numerators,
and one of these fractions is near any value."""
MARGIN = Fraction(5, 4)
"""Own demands up to so much above the sweep's can be computed with, too."""


@dataclass(frozen=True, eq=False)
class UsedFit:
    """Parameters rounded so that the integer model holds them, and how well they fit the sweep.

    ``predicted``: slowdowns of the samples by the integer model, as the timeline computes them.
    """

    parameters: dict[str, Fraction]
    predicted: FloatArray
    median_error: float
    """Median of |predicted - measured| / measured. The next two fields are of the same figure."""
    mean_error: float
    largest_error: float
    worst_sample: int


def used_fit(fit: ContentionFit, sweep: Sweep) -> UsedFit:
    """Return the fit in the form that the timeline computes with.

    Raises:
        ResultError: if the parameters do not fit into its integers.
    """
    best: tuple[float, dict[str, Fraction], FloatArray] | None = None
    for decimals in BANDWIDTH_DECIMALS:
        made = _nearest(fit, sweep, decimals)
        if made is None:
            continue
        error = float(np.sum(np.log(made[1] / sweep.slowdown) ** 2))
        if best is None or error < best[0]:
            best = (error, *made)
    if best is None:
        raise ResultError("the parameters fitted do not fit into the integers of the timeline")
    _, parameters, predicted = best
    errors = np.abs(predicted - sweep.slowdown) / sweep.slowdown
    return UsedFit(
        parameters=parameters,
        predicted=predicted,
        median_error=float(np.median(errors)),
        mean_error=float(errors.mean()),
        largest_error=float(errors.max()),
        worst_sample=int(errors.argmax()),
    )


def _nearest(
    fit: ContentionFit, sweep: Sweep, decimals: int
) -> tuple[dict[str, Fraction], FloatArray] | None:
    """Return the integer parameters nearest to the fit, and the slowdowns by them."""
    own, external = (
        [round(value * KBPS_PER_GBPS) for value in values.tolist()]
        for values in (sweep.own, sweep.external)
    )
    parameters = {
        name: max(Fraction(str(round(item.value, decimals))), Fraction(1, 10**decimals))
        for name, item in fit.parameters.items()
    }
    parameters["max_minor_percent"] = _fractions(fit.parameters["max_minor_percent"])[0]
    largest = round(MARGIN * max(*own, *external))
    for rate in _fractions(fit.parameters["rate_percent_per_gbps"]):
        parameters["rate_percent_per_gbps"] = rate
        try:
            table = contention_table(_contention(parameters), [Fraction(1)], [largest])
        except ResultError:
            continue
        lost = [lost_rate(table, 0, x, y) for x, y in zip(own, external, strict=True)]
        return parameters, WORK_PER_PS / (WORK_PER_PS - np.array(lost, dtype=np.float64))
    return None


def _fractions(item: FittedParameter) -> list[Fraction]:
    """Return short decimals, the nearest to the value first, or a given value alone."""
    exact = Fraction(item.value)
    if item.is_given:
        return [Fraction(str(item.value))]
    near = {Fraction(round(exact * bottom), bottom) for bottom in DENOMINATORS}
    return sorted(near, key=lambda value: (abs(value - exact), value))


def _contention(parameters: dict[str, Fraction]) -> Contention:
    def kbps(name: str) -> int:
        return max(1, round(parameters[name] * KBPS_PER_GBPS))

    return Contention(
        normal_bandwidth_kbps=kbps("normal_gbps"),
        total_bandwidth_kbps=kbps("total_gbps"),
        balance_point_kbps=kbps("balance_gbps"),
        peak_bandwidth_kbps=kbps("peak_gbps"),
        max_minor_percent=parameters["max_minor_percent"],
        rate_percent_per_gbps=parameters["rate_percent_per_gbps"],
        source=Source(Status.MEASURED, "fit"),
    )


def contention_entry(fit: ContentionFit, used: UsedFit, source: str) -> dict[str, Any]:
    """Return the object ``contention`` of a unit in a platform file."""
    given = [name for name, item in fit.parameters.items() if item.is_given]
    errors = ", ".join(
        f"{name} +- {item.error:.2g}" for name, item in fit.parameters.items() if not item.is_given
    )
    text = (
        f"{source}: fitted to {fit.samples} co-runs ({errors}); slowdowns off by "
        f"{used.mean_error:.2%} in the mean, {used.largest_error:.2%} at most"
    )
    if given:
        text += f"; given, not fitted: {', '.join(given)}"
    values = {name: float(value) for name, value in used.parameters.items()}
    return {
        **{name: int(value) if value.is_integer() else value for name, value in values.items()},
        "source": text[:4000],
        "status": "measured",
    }


def platform_document(
    base: str, name: str, units: Sequence[str], entry: dict[str, Any]
) -> dict[str, Any]:
    """Return a platform file that differs from ``base`` in the contention of these units."""
    return {
        "extends": base,
        "name": name,
        "units": [{"name": unit, "contention": entry} for unit in units],
    }
