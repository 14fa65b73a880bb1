"""Choices: the few members of a front that stand for all others within a resolution, and how sure
their figures are, if its costs are as far off as is stated of them.

At a resolution of 1 % every member is within 1 % of one of them in every objective, in the sense of
:mod:`results.front.epsilon`: the choice is at most 1 % worse, and may be better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from numbers import Rational
from operator import or_

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.units import PPM
from paretosoc.results.errors import ResultError
from paretosoc.results.front.epsilon import epsilon_of, most_within
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.problem.problem import Problem

RESOLUTIONS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5)
"""The resolutions that a page offers. At 0 every member is a choice."""
DEFAULT_RESOLUTION = 0.01
MOST = 12
"""Choices at the default resolution. If there are more, it is the next coarser one."""
_MAX_EXACT, _MAX_NODES = 200, 300
"""Members left to cover, and nodes of the search, up to which a cover is the smallest."""


@dataclass(frozen=True)
class Choice:
    """A member, by its position in the front, and the members that it stands for, itself
    included."""

    member: int
    stands_for: tuple[int, ...]


@dataclass(frozen=True)
class Choices:
    """The choices of a front at a resolution, in the order of the front."""

    resolution: float
    """A share: 0.01 is 1 %."""
    entries: tuple[Choice, ...]

    @property
    def members(self) -> list[int]:
        """Return the positions of the choices."""
        return [entry.member for entry in self.entries]

    @property
    def counts(self) -> dict[int, int]:
        """Return how many members each choice stands for, by its position."""
        return {entry.member: len(entry.stands_for) for entry in self.entries}


def choose(front: Front, resolution: float | None = None) -> Choices:
    """Return the choices of a front: its named members and the fewest others.

    The set is the smallest if :mod:`this module <results.front.choices>` can show it within a small
    search, which it always can with two objectives. Otherwise it is a greedy one. Among equally
    good members, the one with the fewest transitions is taken, then with the fewest units, then
    with the clocks nearest to those that a governor sets (:func:`from_governor`), then the first.

    Args:
        resolution: a share from 0 to below 1, with 0 for all members. None: ``DEFAULT_RESOLUTION``,
            or the next of ``RESOLUTIONS`` at which there are at most ``MOST`` choices.

    Raises:
        ResultError: if it is not such a share.
    """
    if resolution is not None:
        if not isinstance(resolution, float | Rational | np.floating) or not 0 <= resolution < 1:
            raise ResultError(
                f"resolution: a number from 0 to below 1 is required, got {resolution!r}"
            )
        return _choices(front, round(resolution * PPM))
    named = list(mark_members(front))
    most = max(MOST, len(named))
    *finer, coarsest = RESOLUTIONS[RESOLUTIONS.index(DEFAULT_RESOLUTION) :]
    for ppm in (round(share * PPM) for share in finer):
        # Of a front of thousands few resolutions are worth a cover.
        reach = _Reach(front.ranked_array, ppm)
        if _independent(reach, reach.left_by(named), most - len(named)) <= most - len(named):
            found = _choices(front, ppm)
            if len(found.entries) <= most:
                return found
    return _choices(front, round(coarsest * PPM))


@lru_cache(maxsize=32)
def _choices(front: Front, ppm: int) -> Choices:
    """Return the choices at a resolution. Cached for the last fronts, as all views need them."""
    everyone = range(len(front.members))
    if ppm == 0:
        return Choices(0.0, tuple(Choice(index, (index,)) for index in everyone))
    values = front.ranked_array
    reach = _Reach(values, ppm)
    named = list(mark_members(front))
    order = sorted(everyone, key=lambda i: (*preference(front.problem, front.members[i]), i))
    chosen = _simplest(reach, named, _cover(reach, reach.left_by(named)), order)
    owner = _owners(reach, values, chosen)
    return Choices(
        ppm / PPM,
        tuple(
            Choice(member, tuple(np.flatnonzero(owner == place).tolist()))
            for place, member in enumerate(chosen)
        ),
    )


def preference(problem: Problem, member: Member) -> tuple[int, int, int]:
    """Return a sort key, smaller for members that are simpler to run.

    It has the transitions, the units, and the steps away from the clocks of a governor.
    """
    design = member.design
    units = {problem.unit_of[unit] for unit in design.units.tolist()}
    return problem.transition_count(design), len(units), from_governor(problem, member)


def from_governor(problem: Problem, member: Member) -> int:
    """Return how many steps the clocks are away from those of a governor, added up.

    A governor is taken to set the fastest clock that may be chosen for a domain in use, and the
    slowest for one that is on and not in use.
    """
    used = {d for u in set(member.design.units.tolist()) for d in problem.units[u].clocks}
    steps = 0
    for d, point in enumerate(member.points):
        if point is not None:
            allowed = problem.domains[d].allowed
            steps += int(allowed[point + 1 :].sum() if d in used else allowed[:point].sum())
    return steps


class _Reach:
    """The members that each member reaches within a resolution, as sets: bits of an integer."""

    def __init__(self, values: IntArray, ppm: int) -> None:
        # In Python's integers: a value times 10^6 may be beyond int64.
        limits = [[most_within(value, ppm) for value in row] for row in values.tolist()]
        # [objectives, members]: the sets are made of whole rows.
        self._values = np.ascontiguousarray(values.T)
        self._limits = np.array(limits, dtype=np.int64).reshape(values.shape).T.copy()
        self._reached: dict[int, int] = {}
        self._reaching: dict[int, list[int]] = {}

    def reached(self, member: int) -> int:
        """Return the set that a member reaches."""
        if member not in self._reached:
            bits = np.packbits(self.reaches(member), bitorder="little").tobytes()
            self._reached[member] = int.from_bytes(bits, "little")
        return self._reached[member]

    def reaches(self, member: int) -> BoolArray:
        """Return for each member whether a member reaches it."""
        reached: BoolArray = np.all(self._values[:, member, None] <= self._limits, axis=0)
        return reached

    def reaching(self, member: int) -> list[int]:
        """Return the members that reach a member."""
        if member not in self._reaching:
            reaching = (self._values <= self._limits[:, member, None]).all(axis=0)
            self._reaching[member] = np.flatnonzero(reaching).tolist()
        return self._reaching[member]

    def union(self, members: Iterable[int]) -> int:
        """Return those that one of some members reaches."""
        return reduce(or_, (self.reached(member) for member in members), 0)

    def left_by(self, members: Iterable[int]) -> int:
        """Return those that none of some members reaches."""
        everyone = (1 << len(self._values[0])) - 1
        return everyone & ~self.union(members)


def _first(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _cover(reach: _Reach, left: int) -> list[int]:
    """Return few members that reach all in ``left``: the one that reaches most beside the first
    left, and so on. That is least with two objectives. Else a search improves on it if few are
    left."""
    chosen, open_ = list[int](), left
    while open_:
        best = max(
            reach.reaching(_first(open_)), key=lambda i: (reach.reached(i) & open_).bit_count()
        )
        chosen.append(best)
        open_ &= ~reach.reached(best)
    if left.bit_count() > _MAX_EXACT:
        return chosen
    budget = [_MAX_NODES]
    return _fewer(reach, left, len(chosen), budget) or chosen


def _fewer(reach: _Reach, left: int, most: int, budget: list[int]) -> list[int] | None:
    """Return the fewest members that reach all those in ``left`` if they are fewer than ``most``,
    else None. After ``budget`` nodes it ends early, with the best set found so far."""
    if not left:
        return [] if most > 0 else None
    budget[0] -= 1
    if _independent(reach, left, most) >= most or budget[0] < 0:
        return None
    found = None
    candidates = reach.reaching(_first(left))
    for member in sorted(candidates, key=lambda i: -(reach.reached(i) & left).bit_count()):
        rest = _fewer(reach, left & ~reach.reached(member), most - 1, budget)
        if rest is not None:
            found = [member, *rest]
            most = len(found)
    return found


def _independent(reach: _Reach, left: int, enough: int) -> int:
    """Return a number of members that no cover has fewer than: as many of those in ``left`` of
    which no two are reached by one. It ends with the first number above ``enough``."""
    count = 0
    while left and count <= enough:
        count += 1
        left &= ~reach.union(reach.reaching(_first(left)))
    return count


def _simplest(
    reach: _Reach, named: Sequence[int], others: list[int], order: list[int]
) -> list[int]:
    """Return named and other choices, rising. Each of the others, from the last to the first, is
    replaced by the first in ``order`` that reaches all that it alone reaches, or left out if that
    is nothing."""
    place = {member: rank for rank, member in enumerate(order)}
    before = list(accumulate(map(reach.reached, others), or_, initial=reach.union(named)))
    kept, after = list[int](), 0
    for member, earlier in zip(reversed(others), reversed(before[:-1]), strict=True):
        alone = reach.reached(member) & ~(earlier | after)
        if alone:
            able = sorted(reach.reaching(_first(alone)), key=place.__getitem__)
            best = next(i for i in able if not alone & ~reach.reached(i))
            kept.append(best)
            after |= reach.reached(best)
    return sorted({*named, *kept})


def _owners(reach: _Reach, values: IntArray, chosen: Sequence[int]) -> IntArray:
    """Return the place of the choice that reaches each member within least, the first of equals."""
    owner = np.zeros(len(values), dtype=np.int64)
    least = np.full(len(values), np.inf)
    for place, member in enumerate(chosen):
        reached = np.flatnonzero(reach.reaches(member))
        needed = epsilon_of(values[member], values[reached])
        nearer = needed < least[reached]
        owner[reached[nearer]], least[reached[nearer]] = place, needed[nearer]
        owner[member], least[member] = place, -1.0
    return owner


DRAWS = 1000
"""How often costs are drawn unless another number is asked for."""
SURE = 0.9
"""Share of the draws in which one of two members must be better for the two to be told apart."""
BROKEN = 1.0
"""Loss of a choice in a draw in which it breaks a limit that another member keeps: as if it were
twice as slow as the best. Regrets do not count for more."""
STOP_BEST, STOP_LOSS = 0.95, 0.01
"""A choice is sure enough if it is as good as the best, within the resolution, with this
probability, or loses less in the mean."""
PERCENTILES = (5, 95)
"""Percentiles at the ends of an interval."""


@dataclass(frozen=True)
class Odds:
    """The chances of a choice for a goal."""

    best: float
    """Share of the draws in which the best of all members is one that the choice stands for."""
    near_best: float
    """Share of the draws in which the choice is as good as the best of all members within the
    resolution."""
    regret: float | None
    """Mean share by which it is worse than the best of all members, over the draws in which it
    meets all limits. None if there are none. For the knee: in shares of the front's ranges."""
    loss: float
    """Mean over all draws of that share, of :data:`BROKEN` at most, which also counts if it breaks
    a limit that another member keeps."""

    @property
    def is_sure(self) -> bool:
        """Return whether measuring more is not worth while."""
        return self.near_best >= STOP_BEST or self.loss < STOP_LOSS


@dataclass(frozen=True)
class ChoiceConfidence:
    """How sure the figures of a choice are."""

    member: int
    """Its position in the front."""
    stands_for: int
    intervals: Mapping[str, tuple[float, float]]
    """5th and 95th percentile of each objective, by its name with its unit as in the table, the
    smaller one first. Infinite if networks with rates are overloaded there."""
    limits: Mapping[str, float]
    """By limit that someone asked for: share of the draws in which it is kept."""
    meets_limits: float
    """Share of the draws in which all limits are kept, also the chip's."""
    goals: Mapping[str, Odds]


@dataclass(frozen=True)
class Confidence:
    """How sure the choices of a front are."""

    draws: int
    seed: int
    resolution: float
    choices: tuple[ChoiceConfidence, ...]
    alike: Mapping[str, tuple[tuple[int, int], ...]]
    """By goal: pairs of choices, by their positions in the front, neither of which is better in
    ``SURE`` of the draws."""

    def advised(self, goal: str) -> ChoiceConfidence:
        """Return the choice that is to be taken: the one that loses least in the mean."""
        return min(self.choices, key=lambda entry: entry.goals[goal].loss)
