"""Laws of times over clocks, which are fitted to few points and predict the rest.

All but the naive one are the law of :mod:`fitness.cost_model.clock_law` with a p and parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.dvfs import DEFAULT_NOISE
from paretosoc.fitness.calibration.least_squares import Task, fit
from paretosoc.fitness.cost_model.dvfs_forms import Clocks, time_ms


@dataclass(frozen=True)
class Law:
    """``is_naive``: the time follows the unit's clock alone. ``overlap``: p. None: fitted.

    ``inner``: a part that no clock of the measurements changes counts inside the norm, as a host's
    at one clock does. ``outer``: it is added. ``stall``: a host holds up the unit's own work.
    """

    name: str
    overlap: float | None = None
    is_naive: bool = False
    inner: bool = False
    outer: bool = False
    stall: bool = False


NAIVE = Law("naive", is_naive=True)
SUM = Law("sum", 1.0, outer=True)
NORM = Law("p-norm")
NORM_CONSTANT = Law("p-norm, constant inside", inner=True)
NORM_OUTSIDE = Law("p = 3, constant outside", 3.0, outer=True)
STALL = Law("p = 3 and a stall", 3.0, stall=True)


@dataclass(frozen=True, eq=False)
class Subject:
    """One network on one unit, measured at some clocks, which fill all arrays [n].

    ``group``: subjects of one group are left out together. ``used``: the points that are in a fit
    of a few. ``fastest``: the point at the fastest clocks.
    """

    name: str
    group: str
    clocks: Clocks
    measured_ms: FloatArray
    used: tuple[int, ...]
    fastest: int

    def at(self, points: Sequence[int]) -> Clocks:
        """Return the clocks at some of the points."""
        chosen = np.array(points, dtype=np.int64)
        clocks = self.clocks
        return Clocks(
            own=clocks.own[chosen],
            host=clocks.host[chosen],
            memory=clocks.memory[chosen],
            own_v=clocks.own_v[chosen],
            host_v=clocks.host_v[chosen],
        )


def slowdowns(own: Sequence[float], memory: Sequence[float] | None = None) -> Clocks:
    """Return clocks of a unit at one host clock and, without ``memory``, one memory clock.

    Any unit of frequency will do. Voltages count as one at all clocks.
    """
    mine = np.array(own, dtype=np.float64)
    one = np.ones_like(mine)
    theirs = one if memory is None else np.array(memory, dtype=np.float64)
    return Clocks(
        own=mine.max() / mine,
        host=one,
        memory=theirs.max() / theirs,
        own_v=mine / mine.max(),
        host_v=one,
    )


def fitted(law: Law, subject: Subject, points: Sequence[int]) -> dict[str, float]:
    """Return the parameters of the law that fit some points of a subject.

    A part that those cannot tell from another has none.

    Raises:
        PlatformError: if the points cannot determine them.
    """
    if law.is_naive:
        return {"compute_ms": float(subject.measured_ms[subject.fastest])}
    clocks = subject.at(points)
    one_memory_clock = bool(np.ptp(clocks.memory) == 0)
    names = ["compute_ms", "memory_ms"]
    hosted = bool(np.ptp(clocks.host) > 0)
    if hosted or (law.inner and not one_memory_clock):
        names.append("host_ms")
    if hosted and law.stall:
        names.append("stall")
    if law.outer and not (one_memory_clock and law.overlap == 1):
        names.append("fixed_ms")
    if law.overlap is None:
        names.append("overlap")
    task = Task(
        names,
        lambda values: time_ms(values, clocks),
        subject.measured_ms[list(points)],
        f"{subject.name}, {law.name}",
        {} if law.overlap is None else {"overlap": law.overlap},
    )
    return fit(task, noise=DEFAULT_NOISE, resamples=0).values


def few_points(law: Law, subject: Subject) -> FloatArray:
    """Return [n] ms, by a fit to the points ``used``."""
    return time_ms(fitted(law, subject, subject.used), subject.clocks)


def one_run(law: Law, subject: Subject, others: Sequence[Subject]) -> FloatArray:
    """Return [n] ms, by the time at the fastest clocks and the shape that fits other subjects best.

    Raises:
        PlatformError: if the others cannot determine a shape.
    """
    if law.is_naive:
        shape = {"compute_ms": 1.0}
    else:
        together = joined_subjects(others)
        shape = fitted(law, together, range(len(together.measured_ms)))
    times = time_ms(shape, subject.clocks)
    scaled: FloatArray = times / times[subject.fastest] * subject.measured_ms[subject.fastest]
    return scaled


def joined_subjects(subjects: Sequence[Subject]) -> Subject:
    """Return all points of several subjects, with times as multiples of those at the fastest
    clocks."""
    clocks = [subject.clocks for subject in subjects]
    return Subject(
        name=", ".join(subject.name for subject in subjects),
        group="",
        clocks=Clocks(
            own=np.concatenate([one.own for one in clocks]),
            host=np.concatenate([one.host for one in clocks]),
            memory=np.concatenate([one.memory for one in clocks]),
            own_v=np.concatenate([one.own_v for one in clocks]),
            host_v=np.concatenate([one.host_v for one in clocks]),
        ),
        measured_ms=np.concatenate([s.measured_ms / s.measured_ms[s.fastest] for s in subjects]),
        used=(),
        fastest=subjects[0].fastest,
    )
