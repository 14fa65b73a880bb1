"""The gain of mapping: a front beside that of one unit per network at free clocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import BaselinePoint, Front
from paretosoc.results.problem.problem import Problem

ONE_UNIT = "one-unit"
ONE_UNIT_LABEL = "one unit per network at free clocks"
"""Name and label of that baseline."""
WORTH_IT = 0.01
"""A gain below this is said before all else."""
LEAST = 0.001
"""A gain below this is not told beside others."""


@dataclass(frozen=True)
class Gain:
    """The gain in one objective over points of another front, as shares of the point's value."""

    objective: int
    median: float
    most: float
    best: float
    """By the best of all members over the best of all points, whatever else is worse."""


@dataclass(frozen=True)
class MappingGain:
    """The gain of a front over one unit per network, and the gain of that by its clocks."""

    points: int
    """Points of one unit per network that keep all limits, non-dominated over all formats."""
    mapping: tuple[Gain, ...]
    """In each objective, by the best member that is worse in no other objective."""
    clocks: tuple[tuple[int, float], ...]
    """Objective and share by which the best of these points is better than every other method at
    the fastest clocks."""

    @property
    def is_worth_it(self) -> bool:
        """Return whether half of the points, or the best in some objective, gain ``WORTH_IT`` or
        more there."""
        return any(max(gain.median, gain.best) >= WORTH_IT for gain in self.mapping)


def mapping_gain(front: Front) -> MappingGain | None:
    """Return the gain of mapping on a front, or None if it is not known.

    It is not known if the front of one unit per network is missing or keeps no limits, or nothing
    can be mapped in two ways.
    """
    base = [point for point in front.baselines if is_one_unit(point) and not point.breaks]
    if not base or not _maps(front):
        return None
    theirs = np.array([point.member.objectives for point in base], dtype=np.int64)
    # One number format's front may be behind another's: that gain is of the format.
    theirs = theirs[non_dominated(theirs)]
    ours = front.objective_array
    fastest = [p for p in front.baselines if not p.breaks and is_at_fastest(front.problem, p)]
    gains = [_gains(ours, theirs, k) for k in range(theirs.shape[1])]
    return MappingGain(
        points=len(theirs),
        mapping=tuple(
            Gain(
                k,
                median(gain.tolist()),
                float(gain.max()),
                _better(int(ours[:, k].min()), int(theirs[:, k].min())),
            )
            for k, gain in enumerate(gains)
        ),
        clocks=tuple(
            (k, gain)
            for k in range(theirs.shape[1])
            if fastest
            and (
                gain := _better(
                    int(theirs[:, k].min()), min(p.member.objectives[k] for p in fastest)
                )
            )
            > 0
        ),
    )


@dataclass(frozen=True)
class GainSentence:
    """The gain of mapping, as a sentence."""

    text: str
    comes_first: bool
    """It is so little that it is said before all else."""


def describe_mapping_gain(front: Front) -> GainSentence | None:
    """Return the gain of mapping as a sentence, or None if there is nothing to compare with."""
    gain = mapping_gain(front)
    if gain is None:
        if not front.baselines or not _maps(front):
            return None
        if any(map(is_one_unit, front.baselines)):
            text = f"Nothing with {ONE_UNIT_LABEL} keeps all limits."
        else:
            text = (
                f"What mapping is worth is not known: {ONE_UNIT_LABEL} has too many design points "
                "to try them all."
            )
        return GainSentence(text, comes_first=False)
    labels = [o.label(front.problem) for o in front.problem.objectives]

    def shares(pairs: Iterable[tuple[int, float]], least: float = 0.0) -> str:
        return _listed([f"{_percent(x)} in {labels[k]}" for k, x in pairs if x >= least])

    medians = shares((g.objective, g.median) for g in gain.mapping)
    if len(labels) == 2:
        medians = _listed(
            [
                f"{_percent(g.median)} in {labels[g.objective]} at equal {labels[1 - g.objective]}"
                for g in gain.mapping
            ]
        )
    elif len(labels) > 2:
        medians += " with all else equal"
    begin = "Mapping gains"
    if not gain.is_worth_it:
        some = any(g.most >= WORTH_IT for g in gain.mapping)
        begin += f" less than 1 %{' at half of the points or more' if some else ''}:"
    text = f"{begin} {medians} over {ONE_UNIT_LABEL}"
    if any(point.name != ONE_UNIT for point in front.baselines if is_one_unit(point)):
        text += " in one number format"
    if gain.points > 1:
        most = _listed([_percent(g.most) for g in gain.mapping])
        text += f" (medians of {gain.points} points; at most {most})"
    text += "."
    if best := shares(((g.objective, g.best) for g in gain.mapping), LEAST):
        text += f" The best members are ahead of its best by {best}."
    if clocks := shares(gain.clocks, LEAST):
        text += f" Clocks alone gain {clocks} over all methods at the fastest clocks."
    return GainSentence(text, comes_first=not gain.is_worth_it)


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _maps(front: Front) -> bool:
    """Return whether members could differ from whole networks on units, and are those of a search
    by the figures of the baselines, not the decisions of one method."""
    several = len(set(front.problem.unit_of)) > 1 and bool(front.problem.edges)
    is_search = not front.provenance.single_decision and front.robust is None
    return several and bool(front.members) and is_search


def is_one_unit(point: BaselinePoint) -> bool:
    """Return whether a baseline is a point of the front of one unit per network."""
    return point.name.partition(":")[0] == ONE_UNIT


def is_at_fastest(problem: Problem, point: BaselinePoint) -> bool:
    """Return whether all clocks that are on are the fastest of those that may be chosen. Without a
    choice of clocks nothing is."""
    has_choice = any(domain.allowed.sum() > 1 for domain in problem.domains)
    return has_choice and all(
        at is None or not domain.allowed[at + 1 :].any()
        for domain, at in zip(problem.domains, point.member.points, strict=True)
    )


def _gains(ours: IntArray, theirs: IntArray, k: int) -> FloatArray:
    """Return, for each of their points, the share by which the best of ours that are worse in no
    other objective is better."""
    others = np.arange(theirs.shape[1]) != k
    return np.array(
        [
            _better(
                int(ours[(ours[:, others] <= point[others]).all(axis=1), k].min()), int(point[k])
            )
            for point in theirs
        ]
    )


def _better(value: int, base: int) -> float:
    """Return the share of ``base`` by which a value is smaller."""
    return (base - value) / abs(base) if base else 0.0
