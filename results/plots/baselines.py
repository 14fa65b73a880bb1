"""The places of the baselines of a front in its picture, and their visibility."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from paretosoc.results.front.front import Front
from paretosoc.results.problem.objectives import shown_values
from paretosoc.results.text.rates import OVERLOADED

_ROOM = 1.0
"""A baseline may be so far outside the front, as a share of the front's width or height."""


@dataclass(frozen=True)
class BaselineMark:
    """One place in the first two objectives. ``label`` names all methods at that place.

    ``in_front``: a point of a method that has several.
    """

    x: float
    y: float
    label: str
    in_front: bool = False


def baseline_marks(
    front: Front,
    xs: Sequence[float],
    ys: Sequence[float],
    frame: Sequence[tuple[float, float]] = (),
) -> tuple[BaselineMark, ...]:
    """Return marks of the baselines near the members at ``xs``, ``ys``, and of those within the
    ranges of both axes, ``frame``. One far away would leave no room for the front. Of a method that
    has a front, all points are included if there are two objectives: with more, a point that is
    good in another one may be far away. Methods with equal values share a mark. One that breaks a
    limit has ``*``. One that is overloaded has no place."""
    counts = Counter(point.label for point in front.baselines)
    labels: dict[tuple[float, float], list[str]] = {}
    series = []
    for point in front.baselines:
        if point.member.is_overloaded:
            continue
        x, y = shown_values(front.problem.objectives[:2], point.member.objectives[:2])
        in_sight = (_near(x, xs) and _near(y, ys)) or (
            frame and all(low <= v <= high for v, (low, high) in zip((x, y), frame, strict=True))
        )
        if counts[point.label] > 1:
            if in_sight or len(front.problem.objectives) == 2:
                series.append(BaselineMark(x, y, point.label, in_front=True))
        elif in_sight:
            labels.setdefault((x, y), []).append(point.label + ("*" if point.breaks else ""))
    single = [BaselineMark(x, y, ", ".join(names)) for (x, y), names in labels.items()]
    return (*single, *series)


def unnamed_baselines(front: Front, marks: Sequence[BaselineMark], named: Collection[str]) -> str:
    """Return the methods whose names are not in the picture, with their figures, and how many
    points of methods with several are not in it. The text is empty if there are none. One that
    breaks a limit has ``*``.

    Args:
        marks: those in the picture. Other methods are out of sight.
        named: labels of single marks that are written beside them. There is no room for others.
    """
    shown = {name for mark in marks for name in _names(mark.label)}
    labels = {mark.label for mark in marks if not mark.in_front} - {*named}
    hidden = {name for label in labels for name in _names(label)}
    texts: dict[str, list[str]] = {"Out of sight": [], "Crosses without a name": []}
    counts = Counter(point.label for point in front.baselines)
    drawn = Counter(mark.label for mark in marks if mark.in_front)
    texts["Out of sight"] += [
        f"{count - drawn[label]} of {count} points of {label}"
        for label, count in counts.items()
        if count > 1 and drawn[label] < count
    ]
    for point in front.baselines:
        if counts[point.label] > 1 or (point.label in shown and point.label not in hidden):
            continue
        if point.member.is_overloaded:
            texts["Out of sight"].append(f"{point.label} ({OVERLOADED})")
            continue
        figures = (
            objective.text(value)
            for objective, value in zip(
                front.problem.objectives[:2], point.member.objectives, strict=False
            )
        )
        why = "Crosses without a name" if point.label in hidden else "Out of sight"
        star = "*" if point.breaks else ""
        texts[why].append(f"{point.label}{star} {', '.join(figures)}")
    told = [f"{why}: {'; '.join(those)}" for why, those in texts.items() if those]
    # If a mark has one, the legend explains it.
    if not any("*" in mark.label for mark in marks) and any("* " in text for text in told):
        told.append("* breaks a limit")
    return ". ".join(told)


def _names(label: str) -> list[str]:
    return [name.removesuffix("*") for name in label.split(", ")]


def _near(value: float, values: Sequence[float]) -> bool:
    low, high = min(values), max(values)
    # A front of one point has no width.
    room = _ROOM * (high - low or abs(high))
    return low - room <= value <= high + room
