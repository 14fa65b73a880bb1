"""Tables of a problem that ``problem.json`` writes as rows: operating points, edges, hand-overs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.common.documents.marks import (
    Array,
    Context,
    Count,
    Fault,
    Items,
    LeftOut,
    Positive,
    Range,
)
from paretosoc.results.problem.arithmetic import TIME_LIMIT_PS

if TYPE_CHECKING:
    from paretosoc.results.problem.parts import ProblemDomain
    from paretosoc.results.problem.problem import Problem

ArrayT = TypeVar("ArrayT", bound=NDArray[Any])
Delays = Annotated[IntArray, Range(0, TIME_LIMIT_PS - 1), Array(2)]


@dataclass(frozen=True)
class OperatingPoint:
    """An operating point of a clock domain."""

    frequency_khz: Positive
    voltage_mv: Count | None
    static_mw: Count
    """Drawn whenever the domain is on."""
    allowed: bool
    """Whether the search may choose it."""


@dataclass(frozen=True)
class Ladder:
    """The keys of a domain that are lists of the same length in memory."""

    operating_points: Annotated[tuple[OperatingPoint, ...], Items(1)]
    """Slowest first. An operating point is named by its index, from 0."""


def ladder_of(domain: ProblemDomain, _: Context) -> Ladder:
    """Return the operating points of a domain."""
    columns = domain.static_mw.tolist(), domain.allowed.tolist()
    rows = zip(domain.frequencies_khz, domain.voltages_mv, *columns, strict=True)
    return Ladder(tuple(OperatingPoint(*row) for row in rows))


def columns_of(ladder: Ladder, _: Context) -> dict[str, Any]:
    """Return the fields of a domain, the inverse of :func:`ladder_of`."""
    points = ladder.operating_points
    return {
        "frequencies_khz": tuple(point.frequency_khz for point in points),
        "voltages_mv": tuple(point.voltage_mv for point in points),
        "static_mw": read_only(np.array([point.static_mw for point in points], dtype=np.int64)),
        "allowed": read_only(np.array([point.allowed for point in points], dtype=np.bool_)),
    }


@dataclass(frozen=True)
class Edge:
    """An edge between two groups of one network."""

    source: Count
    target: Count
    tokens: Count | None
    """Tensor elements that pass in one inference; null if they are not known."""
    transition_ps: Delays
    """[unit of the source][unit of the target]: time that passes between the end of the source and
    the target being ready."""


@dataclass(frozen=True)
class Handover:
    """A hand-over between groups of two networks."""

    source: Count
    target: Count
    transition_ps: Delays
    """[unit of the source][unit of the target]: time that passes between the end of the source's
    last repeat and the target's first repeat being ready."""


@dataclass(frozen=True)
class Dependencies:
    """The keys of a problem that say which group waits for which."""

    edges: tuple[Edge, ...]
    """Pairs of groups, by number: source feeds target. Both are of one network, source < target."""
    handovers: Annotated[tuple[Handover, ...], Items(1), LeftOut()] = ()
    """Data that the last repeat of one network (a prompt that fills a cache) leaves to the first
    repeat of another that waits for it (the answer), by groups; left out if there is nothing of the
    kind."""


def dependencies_of(problem: Problem, _: Context) -> Dependencies:
    """Return the edges and hand-overs of a problem."""
    tokens: Sequence[int | None] = [None] * len(problem.edges)
    if problem.edge_tokens is not None:
        tokens = problem.edge_tokens.tolist()
    edges = zip(problem.edges, tokens, problem.transition_ps, strict=True)
    handovers = zip(problem.handovers, problem.handovers_ps, strict=True)
    return Dependencies(
        tuple(Edge(*ends, passed, delays) for ends, passed, delays in edges),
        tuple(Handover(*ends, delays) for ends, delays in handovers),
    )


def tables_of(read: Dependencies, context: Context) -> dict[str, Any]:
    """Return the fields of a problem, the inverse of :func:`dependencies_of`."""
    units = len(context.names["units"])
    tokens = [edge.tokens for edge in read.edges if edge.tokens is not None]
    if tokens and len(tokens) < len(read.edges):
        raise Fault("must be known for all edges or for none", ".edges[*].tokens")
    return {
        "edges": tuple((edge.source, edge.target) for edge in read.edges),
        "transition_ps": _delays(read.edges, "edges", units),
        "edge_tokens": read_only(np.array(tokens, dtype=np.int64)) if tokens else None,
        "handovers": tuple((entry.source, entry.target) for entry in read.handovers),
        "handover_ps": (_delays(read.handovers, "handovers", units) if read.handovers else None),
    }


def _delays(rows: Sequence[Edge | Handover], key: str, units: int) -> IntArray:
    if len({row.transition_ps.shape for row in rows}) > 1:
        raise Fault("must be rows of equal length of int64 numbers", f".{key}[*].transition_ps")
    shape = (len(rows), *rows[0].transition_ps.shape) if rows else (0, units, units)
    return read_only(np.array([row.transition_ps for row in rows], dtype=np.int64).reshape(shape))


def read_only(array: ArrayT) -> ArrayT:
    """Return the same array, closed for writing."""
    array.setflags(write=False)
    return array
