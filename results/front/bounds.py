"""Bounds over boxes of operating points: a region that no design point reaches, and its proof.

The proof is a tree of boxes and integers: docs/concepts/certificate.md (Bounds over boxes) says why
any integers are sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MAX_CONFIGURATIONS = 50_000
"""Limits the product over units of (classes + 1), which includes configurations in which groups of
one network that is apart run side by side."""

Corner = tuple[int | None, ...]
"""A value per objective. None: any."""


@dataclass(frozen=True)
class Multipliers:
    """Weights of one inequality, nonnegative integers."""

    energy: int
    """Of the dynamic energy of a frame."""
    units: tuple[tuple[int, ...], ...]
    """[units][classes of demand]: of stand-alone time there, in mW if ``energy`` is 1. A unit with
    several number formats has them at its first entry, the others have none."""
    chains: tuple[int, ...]
    """[chains]: of the path through a chain of networks, likewise."""
    segments: tuple[int, ...]
    """[units]: of a segment there, in ps times the weight of a unit."""
    figures: tuple[int, ...] = ()
    """Of the :func:`~results.problem.limits.additive_figures` of the problem, in their order."""


@dataclass(frozen=True)
class Split:
    """A division of a box: the points of ``domain`` that are bits of ``points`` first, then the
    others.

    Bit k is operating point k. The bit after the last point is the domain being off.
    """

    domain: int
    points: int


@dataclass(frozen=True)
class Leaf:
    """A box that is not divided: positions of the multipliers that bound it."""

    multipliers: tuple[int, ...]


@dataclass(frozen=True)
class BoundProof:
    """A region, and the proof that no feasible design point is in it."""

    problem_sha256: str
    objectives: tuple[str, ...]
    """Names, as in ``front.json``, of those that count."""
    region: tuple[Corner, ...]
    """No feasible design point is at or below one of these in all objectives."""
    chains: tuple[tuple[int, ...], ...]
    """Networks each of which waits for the one before it."""
    paths: tuple[tuple[int, ...], ...]
    """[networks]: groups each of which feeds the next one."""
    apart: tuple[int, ...]
    """Networks whose groups have classes of their own, as no two of them run side by side."""
    classes: tuple[tuple[int, ...], ...]
    """[units]: least demands at which classes of demand begin, kB/s: rising from 0, then again for
    the groups on the path of each network of ``apart``. A unit with several number formats has them
    at its first entry, the others have none."""
    multipliers: tuple[Multipliers, ...]
    tree: tuple[Split | Leaf, ...]
    """Boxes, each before its parts. The first has all operating points."""
    seconds: float
    """Of the search for it."""


def owners_of_classes(begins: Sequence[int]) -> tuple[int, ...]:
    """Return the owner of every class of a unit: 0 if it is for all groups that have none of their
    own, else 1 + the position in ``apart``."""
    owners: list[int] = []
    for kbps in begins:
        owners.append((owners[-1] + (kbps == 0)) if owners else 0)
    return tuple(owners)


def least_points(region: Sequence[Corner]) -> list[tuple[int, ...]]:
    """Return the least points of a region of one or two objectives, sorted by the first. Every
    design point is at or above one of these in all objectives. Empty if there are design points
    without a least value, or more objectives."""
    width = len(region[0]) if region else 0
    if width == 1:
        return [(value + 1,) for (value,) in region if value is not None]
    # By a falling second value. The first has none, the last no first value.
    steps = sorted(region, key=lambda corner: (corner[1] is not None, -(corner[1] or 0)))
    if width != 2 or steps[0][1] is not None or steps[-1][0] is not None:
        return []
    return [(a + 1, b + 1) for (a, _), (_, b) in pairwise(steps) if a is not None and b is not None]
