"""Fronts whose costs were measured on a board that does not exist: the truth is a draw."""

from __future__ import annotations

from paretosoc.common.units import PPM
from paretosoc.dse.tools.analysis.posterior import Stretch
from paretosoc.results.costs.cost_origins import CostMeasurement
from paretosoc.results.costs.costs_file import measured_at


def measurement_of(problem, network, unit, *, groups=None, points=None, **figures):
    """Return a measurement of a network, or some of its groups, on a unit by index."""
    own = problem.networks[network]
    first, last = groups or (0, len(own.groups) - 1)
    points = points or [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    clocks = {d.name: d.frequencies_khz[p] for d, p in zip(problem.domains, points, strict=True)}
    values = {"time_ps": 1} | figures
    return CostMeasurement(
        own.name, first, last, problem.units[unit].name, clocks_khz=clocks, **values
    )


def stretch_of(errors, measurement):
    return Stretch(errors, measured_at(errors.problem, measurement, "$"))


def true_time_ps(problem, factors, at):
    """Return the time of a stretch in a draw, by the factors alone."""
    unit, total = problem.units[at.unit], 0.0
    table = factors.of_times(problem, at.unit)
    for g in at.groups:
        cell = tuple(at.points[d] for d in unit.clocks)
        every = table[(g, *(min(p, n - 1) for p, n in zip(cell, table.shape[1:], strict=True)))]
        total += int(unit.time_ps[(g, *cell)]) * int(every) / PPM
    return total
