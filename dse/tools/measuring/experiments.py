"""Experiments that a board can run, stretches of networks alone on a unit at a member's clocks, and
what it measured in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.common.files import naming, read_file
from paretosoc.dse.tools.analysis.cost_draws import MOST, CostErrors, stated_errors
from paretosoc.dse.tools.analysis.posterior import Stretch
from paretosoc.results.costs.cost_origins import CostMeasurement, CostOrigins
from paretosoc.results.costs.costs_file import MEASUREMENTS, MeasuredAt, measured_at
from paretosoc.results.deploy.deployment import Segment
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.results.io.canonical_json import canonical_bytes, parse
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import signed_content

RUN_MINUTES = 0.5
"""Time to set the clocks, to let the board settle, and to run."""
BUILD_MINUTES = {"trtexec": 2.0}
"""Time to build an engine, by runtime; others load a model in no time."""


@dataclass(frozen=True)
class Bench:
    """Abilities of a board."""

    runtime: str
    units: frozenset[str]
    """Units that the runtime serves, by name without a number format."""
    networks: frozenset[str]
    """Networks that have models: tasks do not."""
    has_power: bool
    """Whether the board measures its power."""
    as_is: frozenset[str] = frozenset()
    """Clock domains that no file sets. They are taken to be at their fastest."""

    def runs(self, experiment: Experiment) -> bool:
        """Return whether an experiment can be run."""
        problem = experiment.problem
        return all(
            problem.networks[part.network].name in self.networks
            and problem.units[part.at.unit].unit_name in self.units
            for part in experiment.parts
        )


@dataclass(frozen=True, eq=False)
class Experiment:
    """A stretch of a network alone on a unit, at the clocks of a member, and then beside another
    one if there is one."""

    network: int
    stretch: Stretch
    member: int
    beside: Experiment | None = None

    @property
    def parts(self) -> tuple[Experiment, ...]:
        """Return it and what runs beside it."""
        return (self,) if self.beside is None else (self, self.beside)

    @property
    def at(self) -> MeasuredAt:
        """Return its unit, its groups and its clocks."""
        return self.stretch.at

    @property
    def problem(self) -> Problem:
        """Return the problem."""
        return self.stretch.errors.problem

    @property
    def segment(self) -> Segment:
        """Return its groups on its unit, the only segment that runs."""
        first = self.at.groups.start - self.problem.networks[self.network].first_group
        return Segment(self.network, 0, self.at.unit, first, first + len(self.at.groups) - 1)

    @property
    def engine(self) -> tuple[int, range]:
        """Return a key of its engine: units with the same times run the same one."""
        return self.stretch.column, self.at.groups

    def __repr__(self) -> str:
        return f"<Experiment: {self.words}>"

    @property
    def words(self) -> str:
        """Return its networks and units, and their clocks, in a line."""
        places, clocks = [], dict[str, None]()
        for part in self.parts:
            network, unit = part.problem.networks[part.network], part.problem.units[part.at.unit]
            whole = len(part.at.groups) == len(network.groups)
            groups = "" if whole else f" {part.segment.groups}"
            places.append(f"{network.name}{groups} on {unit.name}")
            clocks |= dict.fromkeys(part.problem.domains[d].name for d in unit.clocks)
        khz_of = self.clocks_khz
        at = (f"{name} {khz / 1000:g} MHz" for name in clocks if (khz := khz_of[name]) is not None)
        return f"{' beside '.join(places)}, {', '.join(at)}"

    def measurement(
        self, time_ps: int, power_mw: int | None = None, idle_mw: int | None = None
    ) -> CostMeasurement:
        """Return its result."""
        return CostMeasurement(
            self.problem.networks[self.network].name,
            self.segment.first,
            self.segment.last,
            self.problem.units[self.at.unit].name,
            time_ps,
            self.clocks_khz,
            power_mw,
            idle_mw,
        )

    @property
    def clocks_khz(self) -> dict[str, int | None]:
        """Return the frequency of each domain, None if it is off."""
        return self.problem.clocks_khz(self.at.points)


def experiments_of(
    front: Front, errors: CostErrors, members: Sequence[int], as_is: Collection[str] = ()
) -> list[Experiment]:
    """Return the experiments at the clocks of some members: their stretches on their units, and the
    entire networks there. Those that must give the same occur once.

    Args:
        as_is: domains that are at their fastest instead.
    """
    found: dict[tuple[object, ...], Experiment] = {}
    for index in members:
        for network, groups, unit in _stretches(front, index):
            points = _points(front, index, as_is)
            clocks = errors.problem.units[unit].clocks
            if any(points[d] is None for d in clocks):
                continue
            stretch = Stretch(errors, MeasuredAt(unit, groups, points))
            key = (stretch.column, groups, *(points[d] for d in clocks))
            found.setdefault(key, Experiment(network, stretch, index))
    return list(found.values())


def pairs_of(
    front: Front, errors: CostErrors, members: Sequence[int], as_is: Collection[str] = ()
) -> list[Experiment]:
    """Return the pairs of entire networks that some members have on two units whose memory the
    first one shares, at their clocks. Those that must give the same occur once."""
    found: dict[tuple[object, ...], Experiment] = {}
    problem = front.problem
    for index in members:
        entire = [
            one
            for one in experiments_of(front, errors, [index], as_is)
            if len(one.at.groups) == len(problem.networks[one.network].groups)
        ]
        for one, other in permutations(entire, 2):
            units = one.at.unit, other.at.unit
            apart = problem.unit_of[units[0]] != problem.unit_of[units[1]]
            if one.network != other.network and apart and problem.units[units[0]].contention:
                stretch = replace(one.stretch, at=replace(one.at, beside=other.at))
                pair = replace(one, stretch=stretch, beside=other)
                found.setdefault((one.engine, other.engine, one.at.points), pair)
    return list(found.values())


def _points(front: Front, index: int, as_is: Collection[str]) -> tuple[int | None, ...]:
    return tuple(
        len(domain.frequencies_khz) - 1 if domain.name in as_is and point is not None else point
        for domain, point in zip(front.problem.domains, front.members[index].points, strict=True)
    )


def _stretches(front: Front, index: int) -> list[tuple[int, range, int]]:
    """Return network, groups and unit of each stretch of a member, and of its entire networks on
    each of its units that can run them."""
    problem, design = front.problem, front.members[index].design
    found = []
    for n, network in enumerate(problem.networks):
        used = []
        for unit, run in groupby(network.groups, key=lambda g: int(design.units[g])):
            groups = list(run)
            found.append((n, range(groups[0], groups[-1] + 1), unit))
            used.append(unit)
        for unit in dict.fromkeys(used):
            times = problem.units[unit].time_ps[network.first_group : network.groups.stop]
            if (times >= 0).all():
                found.append((n, network.groups, unit))
    return found


def minutes_of(experiment: Experiment, built: Sequence[Experiment], runtime: str) -> float:
    """Return the time of an experiment after others."""
    known = {part.engine for other in built for part in other.parts}
    new = {part.engine for part in experiment.parts} - known
    return RUN_MINUTES * len(experiment.parts) + BUILD_MINUTES.get(runtime, 0.0) * len(new)


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
