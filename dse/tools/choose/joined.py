"""The front of all combinations of variants on a board, with their accuracies as objectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.tables import csv_text
from paretosoc.common.text import pluralize
from paretosoc.results.export.result_folder import Closed
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.problem.objectives import displayed


@dataclass(frozen=True)
class JoinedMember:
    """A design point of a combination that no design point of any combination dominates."""

    variants: Mapping[str, str]
    accuracies: Mapping[str, float]
    """In percent, by network."""
    objectives: Mapping[str, float]
    """By name with unit."""
    run: str
    """Its run in the campaign's folder, or its folder below that of the joined front."""
    member: int
    """Its position in that run's front."""

    @property
    def goals(self) -> list[str]:
        """Return the names of the objectives and of the accuracies."""
        accuracies = (f"accuracy of {owner}" for owner in self.accuracies)
        return [*(name.partition(" [")[0] for name in self.objectives), *accuracies]


@dataclass(frozen=True)
class JoinedFront:
    """The front of all combinations on a board."""

    board: str
    is_complete: bool
    """Whether every combination's front is proved complete."""
    members: tuple[JoinedMember, ...]


@dataclass(frozen=True, eq=False)
class CombinationFront:
    """A combination of variants with its front, or with the reason why it has none."""

    variants: Mapping[str, str]
    accuracies: Mapping[str, float]
    """In percent, by network."""
    run: str
    """As of a :class:`JoinedMember`. Empty without a front or a proof."""
    front: Front | None
    reason: str = ""
    closed: Closed | None = None
    """The proof that the joined front needs no front of it."""

    @property
    def label(self) -> str:
        """Return ``detect=yolo11n, classify=batch4``."""
        return label_of(self.variants)


def points_for(
    accuracies: Mapping[str, float], fronts: Sequence[CombinationFront], objectives: int
) -> IntArray:
    """Return the objectives [n, objectives] of all members of combinations that are nowhere less
    accurate."""
    rows = [
        of.front.objective_array
        for of in fronts
        if of.front is not None
        and all(of.accuracies[owner] >= percent for owner, percent in accuracies.items())
    ]
    return np.concatenate((np.zeros((0, objectives), dtype=np.int64), *rows))


def join(board: str, fronts: Sequence[CombinationFront], *, is_complete: bool) -> JoinedFront:
    """Return what is not dominated in objectives and accuracies, the latter maximised.

    Accuracies are compared network by network: there is no common scale of a detector's and a
    classifier's. Objectives are those of the fronts, in their exact integers.
    """
    points = [
        (of, of.front, k)
        for of in fronts
        if of.front is not None
        for k in range(len(of.front.members))
    ]
    values = np.array([front.members[k].objectives for _, front, k in points], dtype=np.int64)
    for owner in fronts[0].accuracies if fronts else ():
        listed = [of.accuracies[owner] for of, _, _ in points]
        ranks = np.unique(listed, return_inverse=True)[1].astype(np.int64)
        values = np.column_stack([values, -ranks])
    kept = non_dominated(values) if points else ()
    return JoinedFront(board, is_complete, tuple(_member(*points[k]) for k in kept))


def _member(of: CombinationFront, front: Front, position: int) -> JoinedMember:
    return JoinedMember(
        variants=of.variants,
        accuracies=of.accuracies,
        objectives=displayed(front.problem, front.members[position].objectives),
        run=of.run,
        member=position,
    )


def joined_table(fronts: Sequence[JoinedFront]) -> tuple[list[str], list[list[object]]]:
    """Return headings and cells of the members of all boards, one a row."""
    rows = [(front.board, member) for front in fronts for member in front.members]
    if not rows:
        return [], []
    first = rows[0][1]
    accuracies = [f"accuracy of {owner} [%]" for owner in first.accuracies]
    # A network may be called as another column is.
    others = "board", "run", "member"
    variants = (f"variant of {name}" if name in others else name for name in first.variants)
    headings = ["board", *variants, *accuracies, *first.objectives, "run", "member"]
    cells: list[list[object]] = []
    for board, member in rows:
        figures = (*member.accuracies.values(), *member.objectives.values())
        cells.append([board, *member.variants.values(), *figures, member.run, member.member])
    return headings, cells


def joined_csv(fronts: Sequence[JoinedFront]) -> str:
    """Return the table of all members as CSV. Empty without members."""
    headings, cells = joined_table(fronts)
    return csv_text(headings, cells) if cells else ""


def joined_lines(fronts: Sequence[JoinedFront]) -> list[str]:
    """Return a line for each board: how many design points of which combination are left."""
    lines = []
    for front in fronts:
        if not front.members:
            continue
        counts = Counter(label_of(member.variants) for member in front.members)
        each = ", ".join(f"{label} {count}" for label, count in counts.items())
        proof = "proved complete" if front.is_complete else "not proved complete"
        lines.append(
            f"{front.board}: the front of all combinations over "
            f"{', '.join(front.members[0].goals)} has "
            f"{pluralize(len(front.members), 'design point')}, {proof}: {each}"
        )
    return lines


def label_of(variants: Mapping[str, str]) -> str:
    """Return ``detect=yolo11n, classify=resnet50``. Empty without variants."""
    return ", ".join(f"{owner}={name}" for owner, name in variants.items())
