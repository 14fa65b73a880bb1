"""Two fronts of the same objectives side by side: their quality, and their own members.

The words for two members of one front are in :mod:`results.text.member_diff`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.errors import ResultError
from paretosoc.results.front.dominance import hypervolume, reference_point
from paretosoc.results.front.front import Front
from paretosoc.results.problem.limits import UNITS, LimitSpec, Of, fields_of
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.problem.rates import member_relative_ppm
from paretosoc.results.text.member_diff import measure_in_words
from paretosoc.results.text.space_description import describe_execution


@dataclass(frozen=True)
class FrontSide:
    """One of two fronts, seen against the other. Members are given by their index."""

    members: int
    hypervolume: float
    """Up to the common reference point, as a share of that of both fronts together."""
    coverage: float
    """C(this, other): share of the other's members that some member of this one dominates or
    equals (Zitzler and Thiele, 1999)."""
    additive_epsilon: float
    """The least that must be taken off all objectives of this front, each scaled to [0, 1] over
    both fronts, until it dominates or equals every member of the other. Negative if there is
    something to spare (Zitzler et al., 2003)."""
    multiplicative_epsilon: float | None
    """The least factor by which all objectives must be divided for the same, or None if an
    objective is not positive everywhere."""
    dominated: tuple[int, ...]
    """Members that some member of the other front dominates."""
    shared: tuple[int, ...]
    """Members whose objectives are exactly those of a member of the other front."""
    own: tuple[int, ...]
    """The rest: members that the other front lacks."""
    best: tuple[int, ...]
    """Smallest value of each objective."""
    fairness_ppm: tuple[int, int] | None
    """If networks run freely, the least and the most over the members of the smallest relative rate
    of a network."""


@dataclass(frozen=True)
class FrontComparison:
    """Two fronts side by side."""

    objectives: tuple[str, ...]
    """Names as in ``front.json``."""
    measure: str | None
    """The measure whose figures are compared, if both fronts were searched by it in the same draws.
    None: nominal figures are compared."""
    reference_point: tuple[float, ...]
    """1.1 x the nadir of both fronts together."""
    first: FrontSide
    second: FrontSide
    differences: tuple[str, ...]
    """The differences between the problems, and between the measures that were searched by, as
    text. Empty if both are the same."""

    def __repr__(self) -> str:
        text = " and ".join(f"{100 * each.hypervolume:.4g} %" for each in (self.first, self.second))
        problems = "different problems" if self.differences else "one problem"
        return f"<FrontComparison: hypervolumes {text}; {problems}>"


def compare_fronts(first: Front, second: Front) -> FrontComparison:
    """Compare two fronts that have members and the same objectives, in any order.

    Raises:
        ResultError: if a front is empty, or the objectives are not the same.
    """
    names = first.problem.objective_names
    others = second.problem.objective_names
    if sorted(names) != sorted(others):
        got = " and ".join(
            ", ".join(objective.label(front.problem) for objective in front.problem.objectives)
            for front in (first, second)
        )
        raise ResultError(f"fronts of the same objectives are required, got {got}")
    for which, front in (("first", first), ("second", second)):
        if not front.members:
            raise ResultError(f"the {which} front is empty: there is nothing to compare")
    alike = first.robust == second.robust
    a, b = (front.ranked_array if alike else front.objective_array for front in (first, second))
    b = b[:, [others.index(name) for name in names]]
    both = np.concatenate((a, b))
    reference = reference_point(both)
    total = hypervolume(both, reference)
    return FrontComparison(
        objectives=names,
        measure=first.robust.measure if alike and first.robust is not None else None,
        reference_point=tuple(reference.tolist()),
        first=_side(first, a, b, hypervolume(a, reference), total),
        second=_side(second, b, a, hypervolume(b, reference), total),
        differences=(*_measures(first, second), *problem_differences(first, second)),
    )


def _side(front: Front, mine: IntArray, theirs: IntArray, volume: float, total: float) -> FrontSide:
    import moocore

    dominated, equal = _against(mine, theirs)
    lost, same = _against(theirs, mine)
    both = np.concatenate((mine, theirs)).astype(np.float64)
    low = both.min(axis=0)
    span = both.max(axis=0) - low
    scaled = [(part - low) / np.where(span > 0, span, 1.0) for part in (mine, theirs)]
    positive = bool((both > 0).all())
    return FrontSide(
        members=len(mine),
        hypervolume=volume / total if total else 1.0,
        coverage=float((lost | same).mean()),
        additive_epsilon=float(moocore.epsilon_additive(scaled[0], ref=scaled[1])),
        multiplicative_epsilon=(
            float(moocore.epsilon_mult(mine.astype(np.float64), ref=theirs.astype(np.float64)))
            if positive
            else None
        ),
        dominated=tuple(np.flatnonzero(dominated).tolist()),
        shared=tuple(np.flatnonzero(equal).tolist()),
        own=tuple(np.flatnonzero(~dominated & ~equal).tolist()),
        best=tuple(mine.min(axis=0).tolist()),
        fairness_ppm=_fairness(front),
    )


def _fairness(front: Front) -> tuple[int, int] | None:
    if front.problem.execution.has_frame:
        return None
    smallest = [min(member_relative_ppm(front.problem, member)) for member in front.members]
    return min(smallest), max(smallest)


def _against(rows: IntArray, others: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return whether some other row dominates each row, [n], and whether one equals it, exactly."""
    nowhere_larger = (others[None, :, :] <= rows[:, None, :]).all(axis=2)
    same = (others[None, :, :] == rows[:, None, :]).all(axis=2)
    dominated: BoolArray = (nowhere_larger & ~same).any(axis=1)
    equal: BoolArray = same.any(axis=1)
    return dominated, equal


def _measures(first: Front, second: Front) -> list[str]:
    """Return the measures that the fronts were searched by, if they are not the same."""
    one, other = (
        "nominal costs"
        if front.robust is None
        else f"{measure_in_words(front.robust.measure)} over {front.robust.draws} draws with the "
        f"seed {front.robust.seed}"
        for front in (first, second)
    )
    if one == other:
        return []
    return [f"what was searched by: {one} and {other}; nominal figures are compared"]


def problem_differences(first: Front, second: Front) -> list[str]:
    """Return the differences between two problems, as text. Empty if they are the same."""
    if problem_sha256(first.problem) == problem_sha256(second.problem):
        return []
    a, b = first.problem, second.problem
    differences = []

    def note(what: str, mine: object, theirs: object) -> None:
        if mine != theirs:
            differences.append(f"{what}: {mine} and {theirs}")

    note("platform", first.provenance.platform, second.provenance.platform)
    note("number format", first.provenance.precision, second.provenance.precision)
    note("networks", _networks(a), _networks(b))
    note("runtime", a.runtime or "none", b.runtime or "none")
    note("units", ", ".join(u.name for u in a.units), ", ".join(u.name for u in b.units))
    ladders = [
        {d.name: tuple(compress(d.frequencies_khz, d.allowed)) for d in problem.domains}
        for problem in (a, b)
    ]
    for name in dict.fromkeys((*ladders[0], *ladders[1])):
        clocks = [side.get(name, ()) for side in ladders]
        if clocks[0] != clocks[1]:
            mine, theirs = map(_in_mhz, clocks)
            differences.append(f"clocks of {name}: {mine} and {theirs}")
    note("execution", *(describe_execution(problem.execution) for problem in (a, b)))
    note("tolerance in thousandths", a.tolerance_permille, b.tolerance_permille)
    note("guaranteed deadlines", a.guarantee, b.guarantee)
    orders = (side.searched_order and side.searched_order.value for side in (a, b))
    note("searched order", *(order or "none" for order in orders))
    shared = {n.name for n in a.networks} & {n.name for n in b.networks}
    for owner in (Of.ALL, Of.POOL, Of.NETWORK):
        holders = [{getattr(holder, "name", ""): holder for holder in owner.of(p)} for p in (a, b)]
        for name in dict.fromkeys((*holders[0], *holders[1])):
            if owner is Of.NETWORK and name not in shared:
                continue
            for field, (limit, *_) in fields_of(owner).items():
                what = f"{limit.compared} of {name}" if name else limit.compared
                values = (getattr(side.get(name), field, None) for side in holders)
                note(what, *(_of(value, limit) for value in values))
    for name in sorted(shared):
        one, other = (next(n for n in p.networks if n.name == name) for p in (a, b))
        note(f"releases of {name}", *(n.repeats if n.paced else "none" for n in (one, other)))
        note(f"priority of {name}", one.priority, other.priority)
        note(f"batch of {name}", one.batch, other.batch)
        note(f"arrival of {name}", *(f"{n.arrival_ps / PS_PER_MS:g} ms" for n in (one, other)))
        waits = [
            ", ".join(p.networks[m].name for m in n.waits_for) or "nothing"
            for p, n in ((a, one), (b, other))
        ]
        note(f"what {name} waits for", *waits)
    if _networks(a) == _networks(b):
        # As of variants, which have the network's name.
        sides = [side.provenance for side in (first, second)]
        files = [[file.name for file in s.inputs if file.name != s.platform] for s in sides]
        only = [[name for name in x if name not in y] for x, y in (files, files[::-1])]
        note("inputs", *(", ".join(names) or "none" for names in only))
        # As after a calibration. With other ladders of clocks the tables have other shapes.
        times = {unit.name: unit.time_ps for unit in b.units}
        pairs = [(u.name, u.time_ps, times[u.name]) for u in a.units if u.name in times]
        names = [n for n, x, y in pairs if x.shape == y.shape and not np.array_equal(x, y)]
        if names:
            differences.append(f"times of groups on {', '.join(names)}")
    if not differences:
        if not np.array_equal(a.allowed, b.allowed):
            differences.append("which units groups may run on (pins)")
        else:
            differences.append("the figures: costs, powers or transitions")
    return differences


def _networks(problem: Problem) -> str:
    return ", ".join(
        f"{network.name} ({pluralize(len(network.group_names), 'group')}"
        + (f", {network.repeats} times)" if network.repeats > 1 else ")")
        for network in problem.networks
    )


def _in_mhz(khz: tuple[int, ...]) -> str:
    if len(khz) < 2:
        return f"{khz[0] / 1000:g} MHz" if khz else "none"
    return f"{len(khz)} from {khz[0] / 1000:g} to {khz[-1] / 1000:g} MHz"


def _of(value: int | None, limit: LimitSpec) -> str:
    factor, unit = UNITS[limit.unit]
    return "none" if value is None else f"{value * limit.scale / factor:g} {unit}".rstrip()
