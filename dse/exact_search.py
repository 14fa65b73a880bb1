"""The fastest design point, and the lemmas that prove that none is faster: branch and bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitness.branching import (
    BACKTRACKING,
    BEST,
    DEPTH,
    DONE,
    FASTEST_KNOWN,
    LEMMAS,
    NODES,
    POINT_CHOICE,
    UNIT_CHOICE,
    Branching,
    make_branching,
)
from fitness.plan import IntArray, Plan, make_plan
from fitness.search_space import make_search_space
from fitness.timeline_state import NEVER, make_chosen, make_state
from results.certificate import LemmaTable
from results.errors import ResultError
from results.problem import DesignPoint, EnergyUse, Problem

NEVER_VALUE = int(NEVER)
SLICE_NODES = 20_000
"""Nodes between two looks at the clock."""
BUFFER_LEMMAS = 4096
MOST_POINTS = 62
"""Operating points of a domain that fit in the bits of a mask."""


@dataclass(frozen=True)
class Proof:
    """How far a search stands: no design point has a value below ``bound``."""

    nodes: int
    lemmas: int
    best: int | None
    bound: int
    seconds: float


@dataclass(frozen=True, eq=False)
class ExactResult:
    """What the search found, and the lemmas, as far as they were kept.

    ``best`` is None where no design point is better than the one that the search started from, or
    none is feasible; ``best_ps`` is its value, or the one started from (None: neither).
    """

    complete: bool
    best: DesignPoint | None
    best_ps: int | None
    bound_ps: int
    lemmas: LemmaTable
    lemma_count: int
    nodes: int
    seconds: float
    snapshot: Snapshot
    """Where the search stands, for :func:`find_fastest` to go on from."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The choices that a search had made, by the names of the fields of ``Branching``, and what it
    had proved."""

    arrays: dict[str, list[int]]
    lemmas: LemmaTable
    lemma_count: int
    seconds: float


STATE_FIELDS = (
    *("scalar", "units", "points", "forced", "transitions", "segments"),
    *("kind", "subject", "option", "saved", "bound", "best_units", "best_points"),
)


def find_fastest(
    problem: Problem,
    *,
    known_ps: int | None = None,
    sums_rates: bool = False,
    most_lemmas: int = 1_000_000,
    most_nodes: int | None = None,
    time_limit_s: float | None = None,
    going_on: Snapshot | None = None,
    on_progress: Callable[[Proof], None] | None = None,
) -> ExactResult:
    """Finds the smallest makespan over all units, operating points and rules of the problem.

    The timeline is not monotone, so nothing is cut but by a bound that holds for every completion:
    see :mod:`fitness.bound_kernel`.

    Args:
        known_ps: a makespan that some feasible design point has; only faster ones are looked for.
        sums_rates: minimise -sum of floor(10^18 / T_n) in uHz (Eq. 10) instead; all values are so.
        most_lemmas: more are counted, but not kept.
        most_nodes: ends the search there, on any machine alike.
        time_limit_s: ends the search earlier; ``bound_ps`` then is what is proved so far.
        going_on: where an earlier search of the same problem was ended; ``known_ps`` is not used.
        on_progress: called every ``SLICE_NODES`` nodes.

    Raises:
        ResultError: on a pipeline under a power cap or energy budget, for which there is no lemma.
    """
    from fitness.branch_kernel import search_on

    refuse_unprovable(problem)
    began = time.monotonic() - (0.0 if going_on is None else going_on.seconds)
    plan = make_plan(problem)
    space = make_search_space(problem, sums_rates=sums_rates)
    groups, domains = plan.groups, plan.domains
    branching = make_branching(problem, plan, lemmas=BUFFER_LEMMAS)
    scalar = branching.scalar
    scalar[BEST] = NEVER if known_ps is None else known_ps
    kept: list[tuple[NDArray[np.int16], IntArray]] = []
    count = 0
    if going_on is not None:
        _restore(branching, going_on.arrays, plan)
        scalar[FASTEST_KNOWN] = 0
        kept = [(going_on.lemmas.units.astype(np.int16), going_on.lemmas.points.astype(np.int64))]
        count = going_on.lemma_count
    nodes_before = int(scalar[NODES])
    chosen = make_chosen(plan)
    state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
    while True:
        left = SLICE_NODES
        if most_nodes is not None:
            left = min(left, nodes_before + most_nodes - int(scalar[NODES]))
        ended = search_on(plan, space, chosen, state, branching, left)
        count += int(scalar[LEMMAS])
        if count <= most_lemmas:
            part = slice(0, int(scalar[LEMMAS]))
            kept.append(
                (
                    branching.lemma_units[part].astype(np.int16),
                    branching.lemma_points[part].copy(),
                )
            )
        scalar[LEMMAS] = 0
        best = int(scalar[BEST])
        bound = best if ended == DONE else _open_bound(branching, plan)
        seconds = time.monotonic() - began
        if on_progress is not None:
            known = None if best == NEVER_VALUE else best
            on_progress(Proof(int(scalar[NODES]), count, known, bound, seconds))
        if ended == DONE:
            break
        late = time_limit_s is not None and seconds >= time_limit_s
        late |= most_nodes is not None and int(scalar[NODES]) - nodes_before >= most_nodes
        if late:
            break
    found = branching.best_units[0] >= 0
    points = np.array([_lowest_bit(int(mask)) for mask in branching.best_points], dtype=np.int64)
    lemmas = _table(kept, groups, domains)
    return ExactResult(
        complete=ended == DONE,
        best=DesignPoint(branching.best_units.copy(), points) if found else None,
        best_ps=None if best == NEVER_VALUE else best,
        bound_ps=bound,
        lemmas=lemmas,
        lemma_count=count,
        nodes=int(scalar[NODES]),
        seconds=time.monotonic() - began,
        snapshot=Snapshot(
            arrays={name: getattr(branching, name).tolist() for name in STATE_FIELDS},
            lemmas=lemmas,
            lemma_count=count,
            seconds=time.monotonic() - began,
        ),
    )


def _open_bound(branching: Branching, plan: Plan) -> int:
    """What no design point that is still open is below: the smallest bound of a level that has
    options left, or of the present choice; a level's bound holds for all levels below it."""
    scalar = branching.scalar
    highest = -NEVER_VALUE
    lowest = int(scalar[BEST])
    for level in range(int(scalar[DEPTH])):
        highest = max(highest, int(branching.bound[level]))
        options = plan.units if branching.kind[level] == UNIT_CHOICE else 2
        if branching.option[level] < options:
            lowest = min(lowest, highest)
    return lowest if scalar[BACKTRACKING] else min(lowest, highest)


def _restore(branching: Branching, arrays: dict[str, list[int]], plan: Plan) -> None:
    """Sets a search to where an earlier one stood. The kernels check no index, so all are checked
    here.

    Raises:
        ResultError: where an array is missing, has another length, or a value out of its range.
    """
    ranges = {
        "units": (-1, plan.units - 1),
        "points": (1, (1 << MOST_POINTS) - 1),
        "kind": (-1, POINT_CHOICE),
        "subject": (0, max(plan.groups, plan.domains) - 1),
        "option": (0, max(plan.units, 3)),
        "best_units": (-1, plan.units - 1),
    }
    for name in STATE_FIELDS:
        array = getattr(branching, name)
        values = arrays.get(name)
        if values is None or len(values) != len(array):
            raise ResultError(f"$.search.{name}: {len(array)} numbers are required to go on")
        low, high = ranges.get(name, (-NEVER_VALUE, NEVER_VALUE))
        if values and not low <= min(values) <= max(values) <= high:
            raise ResultError(f"$.search.{name}: numbers from {low} to {high} are required")
        array[:] = values
    if not 0 <= int(branching.scalar[DEPTH]) < len(branching.kind):
        raise ResultError("$.search.scalar: the number of levels is out of range")
    for level in range(int(branching.scalar[DEPTH])):
        count = plan.groups if branching.kind[level] == UNIT_CHOICE else plan.domains
        if branching.kind[level] < 0 or branching.subject[level] >= count:
            raise ResultError(f"$.search: level {level} is not a choice of this problem")


def _table(kept: list[tuple[NDArray[np.int16], IntArray]], groups: int, domains: int) -> LemmaTable:
    units = [part[0] for part in kept] or [np.zeros((0, groups), dtype=np.int16)]
    points = [part[1] for part in kept] or [np.zeros((0, domains), dtype=np.int64)]
    return LemmaTable(
        np.concatenate(units).astype(np.int64), np.concatenate(points).astype(np.uint64)
    )


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0


def refuse_unprovable(problem: Problem) -> None:
    """Accepts a problem whose constraints all have lemmas.

    Raises:
        ResultError: on a pipeline with a power cap or an energy budget, or too long a ladder.
    """
    limited = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
    if problem.energy_use is EnergyUse.PIPELINE and limited:
        raise ResultError(
            "the fastest point cannot be proved where a power cap or energy budget holds for a "
            "pipeline: no bound on its power is known"
        )
    for domain in problem.domains:
        if len(domain.frequencies_khz) > MOST_POINTS:
            raise ResultError(
                f"domain {domain.name!r}: at most {MOST_POINTS} operating points can be proved "
                f"over, got {len(domain.frequencies_khz)}"
            )
