"""Measurements of a board, checked against the costs that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.common.files import naming, read_file
from paretosoc.dse.tools.analysis.cost_draws import MOST, CostErrors, stated_errors
from paretosoc.dse.tools.analysis.posterior import Stretch
from paretosoc.results.costs.cost_origins import CostMeasurement, CostOrigins
from paretosoc.results.costs.costs_file import MEASUREMENTS, measured_at
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import canonical_bytes, parse
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import signed_content

LEAST_BESIDE = 0.8
"""Of the time alone. Nothing is faster beside another network but by errors of measurement."""


@dataclass(frozen=True)
class Compared:
    """A measurement and the costs as they are stated."""

    measurement: CostMeasurement
    stated_ps: float
    stated_mw: float
    """Power above idle."""
    stated_slowdown: float
    """Time beside the other network over the one alone; 1 without another."""

    @property
    def slower(self) -> float:
        """Return by which share the measured time is longer."""
        return self.measurement.time_ps / self.stated_ps - 1


def compared_with(
    errors: CostErrors, measurements: Sequence[CostMeasurement]
) -> tuple[Compared, ...]:
    """Return measurements beside the stated costs.

    Raises:
        ResultError: naming the field of a figure that is too far from those to be of the same.
    """
    found = []
    for k, measurement in enumerate(measurements):
        path = f"$.measured[{k}]"
        stretch = Stretch(errors, measured_at(errors.problem, measurement, path))
        _check(f"{path}.time_ps", measurement, measurement.time_ps, stretch.time_ps, "ps")
        power, idle = measurement.power_mw, measurement.idle_mw
        if power is not None and idle is not None:
            if power <= idle:
                raise ResultError(f"{path}.power_mw: must be above idle_mw, {idle}, got {power}")
            if stretch.dynamic_mw > 0:
                what = f"{path}.power_mw - idle_mw"
                _check(what, measurement, power - idle, stretch.dynamic_mw, "mW")
            if stretch.idle_mw > 0:
                _check(f"{path}.idle_mw", measurement, idle, stretch.idle_mw, "mW")
        beside = measurement.beside
        if beside is not None:
            times = beside.time_ps / measurement.time_ps
            if not LEAST_BESIDE <= times <= MOST:
                raise ResultError(
                    f"{path}.beside.time_ps: must be from {LEAST_BESIDE} to {MOST} times time_ps, "
                    f"got {times:.3g}"
                )
        slower = 1.0 if beside is None else _stated_slowdown(stretch)
        found.append(Compared(measurement, stretch.time_ps, stretch.dynamic_mw, slower))
    return tuple(found)


def _stated_slowdown(stretch: Stretch) -> float:
    none = np.zeros((1, len(stretch.errors.alike)))
    return float(np.exp(stretch.log_slowdown(none))[0])


def _check(path: str, of: CostMeasurement, value: float, stated: float, unit: str) -> None:
    if not stated / MOST <= value <= stated * MOST:
        raise ResultError(
            f"{path}: must be from {stated / MOST:.4g} to {stated * MOST:.4g} {unit}, within a "
            f"factor of {MOST} of what the costs state for {of.words}, got {value:.4g}"
        )


def with_measurements(
    problem: Problem, origins: CostOrigins, results: str | Path | Mapping[str, Any]
) -> CostOrigins:
    """Return origins with the measurements of ``results.json``, or of its content.

    Raises:
        ResultError: as :func:`compared_with`, or naming the JSON path of what is not as it must be,
            was changed or taken before.
    """
    if isinstance(results, Mapping):
        label, data = "measurements", canonical_bytes(dict(results))
    else:
        label, data = str(results), read_file(Path(results), ResultError)
    with naming(label, ResultError):
        content = signed_content(MEASUREMENTS, parse(data), problem)
        measurements = MEASUREMENTS.read(content).measured
        compared_with(stated_errors(problem, origins), measurements)
        for k, measurement in enumerate(measurements):
            if measurement in (*origins.measured, *measurements[:k]):
                raise ResultError(f"$.measured[{k}]: was taken before")
    return replace(origins, measured=(*origins.measured, *measurements))
