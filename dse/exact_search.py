"""The fastest design point, and the lemmas that prove that none is faster: branch and bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fitness.plan import IntArray, make_plan
from fitness.search_space import make_search_space
from fitness.timeline import row_of
from fitness.timeline_state import NEVER, make_chosen, make_state
from results.certificate import LemmaTable
from results.errors import ResultError
from results.problem import DesignPoint, EnergyUse, Problem

SLICE_NODES = 20_000
"""Nodes between two looks at the clock."""
BUFFER_LEMMAS = 4096
MOST_POINTS = 62
"""Operating points of a domain that fit in the bits of a mask."""


@dataclass(frozen=True)
class Proof:
    """How far a search stands: no design point is faster than ``bound_ps``."""

    nodes: int
    lemmas: int
    best_ps: int | None
    bound_ps: int
    seconds: float


@dataclass(frozen=True, eq=False)
class ExactResult:
    """What the search found: the fastest design point (None: none is feasible, or none is faster
    than the one it started from), and the lemmas, as far as they were kept."""

    complete: bool
    best: DesignPoint | None
    best_ps: int | None
    bound_ps: int
    lemmas: LemmaTable
    lemma_count: int
    nodes: int
    seconds: float


def find_fastest(
    problem: Problem,
    *,
    known_ps: int | None = None,
    most_lemmas: int = 1_000_000,
    time_limit_s: float | None = None,
    on_progress: Callable[[Proof], None] | None = None,
) -> ExactResult:
    """Finds the smallest makespan over all units, operating points and rules of the problem.

    The timeline is not monotone, so nothing is cut but by a bound that holds for every completion:
    see :mod:`fitness.bound_kernel`.

    Args:
        known_ps: a makespan that some feasible design point has; only faster ones are looked for.
        most_lemmas: more are counted, but not kept.
        time_limit_s: ends the search earlier; ``bound_ps`` then is what is proved so far.
        on_progress: called every ``SLICE_NODES`` nodes.

    Raises:
        ResultError: on a problem with a power cap, an energy budget or a period, whose lemmas are
            not known here.
    """
    from fitness.branch_kernel import (
        BACKTRACKING,
        BEST,
        BRANCH_SCALARS,
        DEPTH,
        DONE,
        LEMMAS,
        LEMMAS_FULL,
        NODES,
        Branching,
        search_on,
    )

    _refuse_unknown(problem)
    began = time.monotonic()
    plan = make_plan(problem)
    space = make_search_space(problem)
    groups, domains = plan.groups, plan.domains
    levels = groups + sum(int(domain.allowed.sum()) for domain in problem.domains) + 1

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    masks = [sum(1 << int(k) for k in np.flatnonzero(d.allowed)) for d in problem.domains]
    branching = Branching(
        scalar=zeros(BRANCH_SCALARS),
        units=np.full(groups, -1, dtype=np.int64),
        points=np.array(masks, dtype=np.int64),
        forced=zeros(groups),
        transitions=zeros(plan.networks),
        segments=zeros(plan.units),
        kind=zeros(levels),
        subject=zeros(levels),
        option=zeros(levels),
        saved=zeros(levels),
        bound=zeros(levels),
        best_units=np.full(groups, -1, dtype=np.int64),
        best_points=zeros(domains),
        fastest=zeros(groups * plan.units),
        least=zeros(groups),
        tail=zeros(groups),
        path=zeros(plan.networks),
        end=zeros(plan.networks),
        lemma_units=zeros(BUFFER_LEMMAS, groups),
        lemma_points=zeros(BUFFER_LEMMAS, domains),
    )
    scalar = branching.scalar
    scalar[BEST] = NEVER if known_ps is None else known_ps
    chosen = make_chosen(plan)
    state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
    kept: list[tuple[IntArray, IntArray]] = []
    count = 0
    while True:
        ended = search_on(plan, space, chosen, state, branching, SLICE_NODES)
        count += int(scalar[LEMMAS])
        if count <= most_lemmas:
            part = slice(0, int(scalar[LEMMAS]))
            kept.append(
                (
                    branching.lemma_units[part].astype(np.int8),
                    branching.lemma_points[part].copy(),
                )
            )
        scalar[LEMMAS] = 0
        best = int(scalar[BEST])
        depth = int(scalar[DEPTH])
        open_bound = best if ended == DONE else min(branching.bound[:depth].tolist(), default=0)
        if on_progress is not None:
            on_progress(
                Proof(
                    nodes=int(scalar[NODES]),
                    lemmas=count,
                    best_ps=None if best == NEVER else best,
                    bound_ps=open_bound,
                    seconds=time.monotonic() - began,
                )
            )
        if ended == DONE:
            break
        late = time_limit_s is not None and time.monotonic() - began >= time_limit_s
        if late and ended != LEMMAS_FULL:
            break
    found = branching.best_units[0] >= 0
    points = np.array([_lowest_bit(int(mask)) for mask in branching.best_points], dtype=np.int64)
    del BACKTRACKING
    return ExactResult(
        complete=ended == DONE,
        best=DesignPoint(branching.best_units.copy(), points) if found else None,
        best_ps=None if best == NEVER else best,
        bound_ps=open_bound,
        lemmas=_table(kept, groups, domains),
        lemma_count=count,
        nodes=int(scalar[NODES]),
        seconds=time.monotonic() - began,
    )


def _table(kept: list[tuple[IntArray, IntArray]], groups: int, domains: int) -> LemmaTable:
    units = [part[0] for part in kept] or [np.zeros((0, groups), dtype=np.int8)]
    points = [part[1] for part in kept] or [np.zeros((0, domains), dtype=np.int64)]
    return LemmaTable(
        np.concatenate(units).astype(np.int64), np.concatenate(points).astype(np.uint64)
    )


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0


def _refuse_unknown(problem: Problem) -> None:
    if problem.energy_use is not EnergyUse.FRAME:
        raise ResultError(
            f"the fastest point is proved for one frame alone; energy use is {problem.energy_use.value}"
        )
    for what, limit in (
        ("power cap", problem.power_cap_mw),
        ("energy budget", problem.energy_budget_fj),
    ):
        if limit is not None:
            raise ResultError(f"no proof yet for a problem with a {what}")
    for domain in problem.domains:
        if len(domain.frequencies_khz) > MOST_POINTS:
            raise ResultError(
                f"domain {domain.name!r}: at most {MOST_POINTS} operating points can be proved "
                f"over, got {len(domain.frequencies_khz)}"
            )


__all__ = ["ExactResult", "Proof", "find_fastest", "row_of"]
