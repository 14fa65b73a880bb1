"""Bounds over boxes of operating points: a region that no design point reaches, and its proof.

The proof is a tree of boxes and integers: :mod:`fitness.bound_checker` says why any integers are
sound.
"""

from __future__ import annotations

from dataclasses import dataclass

Corner = tuple[int | None, ...]
"""A value per objective; None: any."""


@dataclass(frozen=True)
class Multipliers:
    """Weights of one inequality, nonnegative integers."""

    energy: int
    """Of the dynamic energy of a frame."""
    units: tuple[tuple[int, ...], ...]
    """[units][classes of demand]: of stand-alone time there, in mW where ``energy`` is 1."""
    chains: tuple[int, ...]
    """[chains]: of the path through a chain of networks, likewise."""
    segments: tuple[int, ...]
    """[units]: of a segment there, in ps times the weight of a unit."""


@dataclass(frozen=True)
class Split:
    """Divides a box: the points of ``domain`` that are bits of ``points`` first, the others then.

    Bit k is operating point k; the bit after the last point is the domain being off.
    """

    domain: int
    points: int


@dataclass(frozen=True)
class Leaf:
    """A box that is not divided: positions of the multipliers that bound it."""

    multipliers: tuple[int, ...]


@dataclass(frozen=True)
class BoundProof:
    """A region, and what proves that no feasible design point is in it."""

    problem_sha256: str
    objectives: tuple[str, ...]
    """Names, as in ``front.json``, of those that count."""
    region: tuple[Corner, ...]
    """No feasible design point is at or below one of these in all objectives."""
    chains: tuple[tuple[int, ...], ...]
    """Networks each of which waits for the one before it."""
    paths: tuple[tuple[int, ...], ...]
    """[networks]: groups each of which feeds the next one."""
    classes: tuple[tuple[int, ...], ...]
    """[units]: least demands, rising from 0, at which classes of demand begin, kB/s."""
    multipliers: tuple[Multipliers, ...]
    tree: tuple[Split | Leaf, ...]
    """Boxes, each before its parts; the first has all operating points."""
    seconds: float
    """Of the search for it."""
