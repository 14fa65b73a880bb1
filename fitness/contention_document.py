"""A fit of the contention model as the JSON of a platform file, and its error as it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fitness.contention import contention_table, lost_rate
from fitness.contention_fit import PARAMETERS, ContentionFit
from fitness.contention_sweep import FloatArray, Sweep
from platforms.platform import Contention
from platforms.source import Source, Status
from results.errors import ResultError
from results.problem import WORK_PER_PS

DECIMALS = ((3, 5), (2, 4), (2, 3), (1, 3), (1, 2))
"""Of bandwidths in GB/s and of percentages: the first that the integer model can hold is taken."""
KBPS_PER_GBPS = 10**6


@dataclass(frozen=True, eq=False)
class UsedFit:
    """Parameters rounded so that the integer model holds them, and how well they fit the sweep.

    ``predicted``: slowdowns of the samples by the integer model, as the timeline computes them.
    """

    parameters: dict[str, Fraction]
    predicted: FloatArray
    median_error: float
    """Of |predicted - measured| / measured; the following, too."""
    mean_error: float
    largest_error: float
    worst_sample: int


def used_fit(fit: ContentionFit, sweep: Sweep) -> UsedFit:
    """The fit in the form that the timeline computes with.

    Raises:
        ResultError: where the parameters do not fit into its integers.
    """
    own, external = (_kbps(values) for values in (sweep.own, sweep.external))
    for number, (bandwidth, percent) in enumerate(DECIMALS):
        parameters = {
            name: Fraction(str(round(fit.parameters[name].value, decimals)))
            for name in PARAMETERS
            for decimals in (percent if "percent" in name else bandwidth,)
        }
        try:
            table = contention_table(_contention(parameters), [Fraction(1)], [max(own)])
        except ResultError:
            if number + 1 == len(DECIMALS):
                raise
            continue
        break
    lost = [lost_rate(table, 0, x, y) for x, y in zip(own, external, strict=True)]
    predicted = WORK_PER_PS / (WORK_PER_PS - np.array(lost, dtype=np.float64))
    errors = np.abs(predicted - sweep.slowdown) / sweep.slowdown
    return UsedFit(
        parameters=parameters,
        predicted=predicted,
        median_error=float(np.median(errors)),
        mean_error=float(errors.mean()),
        largest_error=float(errors.max()),
        worst_sample=int(errors.argmax()),
    )


def _kbps(gbps: FloatArray) -> list[int]:
    return [round(value * KBPS_PER_GBPS) for value in gbps.tolist()]


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
    """The object ``contention`` of a unit in a platform file."""
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
    """A platform file that differs from ``base`` in the contention of these units."""
    return {
        "extends": base,
        "name": name,
        "units": [{"name": unit, "contention": entry} for unit in units],
    }
