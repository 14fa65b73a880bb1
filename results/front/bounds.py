"""Bounds over boxes of operating points: a region that no design point reaches, and its proof.

The proof is a tree of boxes and integers: docs/concepts/certificate.md (Bounds over boxes) says why
any integers are sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Annotated

from paretosoc.common.documents.marks import (
    INT64_MAX,
    As,
    Context,
    Count,
    Fault,
    Int64,
    Items,
    Keys,
    Seconds,
    Sha256,
    Text,
)

MAX_CONFIGURATIONS = 50_000
"""Limits the product over units of (classes + 1), which includes configurations in which groups of
one network that is apart run side by side."""
MAX_SIMULATED = 1000
"""Design points that a proof may simulate, a minute's work for the plain checker at most."""


Corner = Annotated[
    tuple[int | None, ...],
    As(
        tuple[Int64, ...],
        lambda values: tuple(None if value == INT64_MAX else value for value in values),
        lambda corner: tuple(INT64_MAX if value is None else value for value in corner),
    ),
]
"""A value per objective. None: any."""


@dataclass(frozen=True)
class Multipliers:
    """Weights of one inequality, nonnegative integers."""

    energy: int
    """Weight of the dynamic energy of a frame."""
    units: tuple[tuple[int, ...], ...]
    """[units][classes of demand]: of stand-alone time there, in mW if ``energy`` is 1. A unit with
    several number formats has them at its first entry, the others have none."""
    chains: tuple[int, ...]
    """[chains]: of the path through a chain of networks, likewise."""
    segments: tuple[int, ...]
    """[units]: of a segment there, in ps times the weight of a unit."""
    figures: tuple[int, ...] = ()
    """Weights of the :func:`~results.problem.limits.additive_figures` of the problem, in their
    order."""


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
class Simulated:
    """A box that is not divided: all its design points were simulated."""


BoxNode = Split | Leaf | Simulated


def _read_node(text: str) -> BoxNode:
    if text == "!":
        return Simulated()
    if text.startswith("="):
        return Leaf(tuple(int(index) for index in text[1:].split(",") if index))
    domain, _, points = text.partition("/")
    return Split(int(domain), int(points, 16))


def _write_node(node: BoxNode) -> str:
    if isinstance(node, Simulated):
        return "!"
    if isinstance(node, Split):
        return f"{node.domain}/{node.points:x}"
    return f"={','.join(map(str, node.multipliers))}"


_NODE = Text("^([0-9]{1,9}/[0-9a-f]+|!|=([0-9]{1,9}(,[0-9]{1,9})*)?)$")
Node = Annotated[BoxNode, As(Annotated[str, _NODE], _read_node, _write_node)]
Indices = Annotated[tuple[Count, ...], Items(1)]


@dataclass(frozen=True)
class _Rows:
    """The multipliers in ``bounds.json``."""

    multipliers: tuple[tuple[Count, ...], ...]
    """One row per inequality, in this order: a of energy; pi of the classes of all units, in their
    order, or one per unit if there are no classes; v of each of chains; s of a segment, for each of
    units; w of each sum over groups: accuracy-loss and memory among the objectives, then
    accuracy-loss of networks with max_loss_ppm, then memory if memory_cap_bytes is given, each
    once. A further number format of a unit has no pi, and its s does not count. W is not stated: it
    follows from the row and the box. docs/concepts/certificate.md, Bounds over boxes, has the
    inequality."""


def _multipliers_of(rows: _Rows, context: Context) -> dict[str, tuple[Multipliers, ...]]:
    """Return the multipliers. The context's subject has the sizes of a row's parts: of the classes
    of each unit, the number of chains, of units, and of figures that are sums."""
    ends = list(accumulate((1, *context.subject)))
    found = []
    for index, row in enumerate(rows.multipliers):
        if len(row) != ends[-1]:
            raise Fault(f"must have {ends[-1]} weights, got {len(row)}", f".multipliers[{index}]")
        *prices, chains, segments, figures = (row[a:b] for a, b in pairwise(ends))
        found.append(Multipliers(row[0], tuple(prices), chains, segments, figures))
    return {"multipliers": tuple(found)}


def _rows_of(proof: BoundProof, _: Context) -> _Rows:
    return _Rows(
        tuple(
            (m.energy, *chain.from_iterable(m.units), *m.chains, *m.segments, *m.figures)
            for m in proof.multipliers
        )
    )


@dataclass(frozen=True)
class BoundProof:
    """Claim: under the dispatch rule of the timeline, for the groups and costs of problem.json, no
    design point within its constraints is at or below a corner of the region in all objectives
    named."""

    problem_sha256: Sha256
    """As in certificate.json."""
    objectives: Annotated[tuple[str, ...], Items(1)]
    """The objectives that count, as named in front.json."""
    region: tuple[Corner, ...]
    """Corners, a value per objective (9223372036854775807: any): no feasible design point is at or
    below one in all objectives."""
    chains: tuple[Indices, ...]
    """Networks each of which waits for the one before it."""
    paths: tuple[Indices, ...]
    """Per network: groups each of which feeds the next one."""
    apart: tuple[Count, ...]
    """Networks whose groups, those on the path, have classes of their own."""
    classes: tuple[tuple[Count, ...], ...]
    """Per unit: demands in kB/s at which classes of demand begin, rising from 0, then again from 0
    for each of apart; of a unit with several number formats at its first entry, at the others none.
    An empty list: contention is not counted."""
    multipliers: Annotated[tuple[Multipliers, ...], Keys(_Rows, _multipliers_of, _rows_of)]
    tree: Annotated[tuple[Node, ...], Items(1)]
    """Boxes, each before its parts. DOMAIN/MASK: divided into the part with an operating point of
    the hexadecimal mask (bit k: point k, the bit after the last: off) and, then, the rest.
    =I,J,...: not divided, with positions of its multipliers. !: not divided, all its design points
    were simulated."""
    seconds: Seconds
    """Time of the search for it."""


def owners_of_classes(begins: Sequence[int]) -> tuple[int, ...]:
    """Return the owner of every class of a unit: 0 if it is for all groups that have none of their
    own, else 1 + the position in ``apart``."""
    owners: list[int] = []
    for kbps in begins:
        owners.append((owners[-1] + (kbps == 0)) if owners else 0)
    return tuple(owners)
