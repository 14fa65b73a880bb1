"""All that is needed to recompute every objective of every member of front.json, in integers (all
fit in int64): ps, kB/s, mW, fJ, kHz, mV. The SHA-256 of the file's bytes is the problem's identity.

Execution in integers. A group that runs alone on unit u takes t = time_ps + (r - 1) step_ps in
repeat r; the work left in it starts at t * 65536 and shrinks by 65536 - loss every picosecond,
with the loss as defined under 'contention'. Losses change only when a group starts or ends
anywhere. The next end is ceil(work left / rate) later. At one instant, first all ends happen, then
every execution whose ready time has come joins the queue of its unit, then each free unit starts
the waiting execution with the smallest (priority of its network, ready time, frame, network,
repeat, group). Ready time of an execution: with incoming edges, the latest of the end of the source
in the same frame and repeat plus the edge's transition_ps [source's unit][target's unit]. Without
incoming edges: in repeat r > 1, the end of the whole repeat r - 1; in repeat 1, the latest of the
frame's release plus arrival_ps and the ends of the last repeats (same frame) of the networks in
waits_for. An execution of repeat 1 that is the target of handovers also waits for the end of the
last repeat of each source (same frame) plus the hand-over's transition_ps. Frames count from 1,
within each stream. A frame has ended when the last repeats of all its networks have.

Power and energy. A domain is on unless may_be_off is true and no group is mapped to a unit that
has it among its clocks. The idle power is board_mw, plus static_mw of every domain that is on,
plus idle_mw of every unit whose first clock is on, all at the chosen operating points. Energy of
a frame in fJ (mW x ps) is, for the execution model 'frame', the idle power times the makespan of
one frame simulated alone, plus dynamic_mw times (end - start) of each of its executions. For
'periodic' and 'rates', it is the same with period_ps instead of the makespan. For 'pipeline' and
'free-running', it is that of the long run, D times the frame period / (n w), rounded down. For
'closed-form' see execution.

The long run. A stream is a sequence of frames that never runs out: with F = frames_in_flight,
its first F frames are released at 0, its frame k + F when its frame k has ended. For 'pipeline'
there is one stream, whose frame is the whole workload. For 'free-running' every network is a stream
of its own. Round k is over at the first instant at which every stream has ended k frames, after all
ends and releases of that instant. For a single stream, the window, of w ps, lasts from a kept state
to its recurrence: at the end of each round the state is compared with the kept one. If they are
equal, the window lasts from the kept one's instant to the present one. Otherwise, if none is kept
or at least twice as many rounds are over as when it was, the present one is kept. A state has, of
every frame in flight, its release, its executions that have ended, those that wait with a known
ready time and that time, those that run and the work left in them, and those that lack some of
their inputs but not all and the latest instant at which one of the others is there. Instants are
relative to the present one, frames to the oldest in flight. With several streams, or if nothing has
recurred before, the window begins with the end of the first round when at least F + 2 rounds are
over and 2048 executions have ended (768 of several streams), and ends with that of the first later
round when at least 2 F + 8 rounds are over and 8192 executions (3072) have ended. The frame period
of a stream is the largest ceil(l w / e) over the units it uses, l the sum of t over all repeats of
its groups there, e the part of them that is executed in the window: t of every execution that ends
in it, less the executed part of one that ran at the window's beginning, plus the executed part of
one that runs at its end, both floor((t * 65536 - work left) / 65536). The frame period of n streams
is n / the sum of 1 / their periods, rounded up. D, the energy in the window, is the idle power
times w, plus dynamic_mw times the part of each execution that lies in the window.

A design point is a unit for every group and an operating point for every domain.
"""

from __future__ import annotations

from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from paretosoc.common.documents.marks import Context
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import (
    Json,
    canonical_bytes,
    check_signature,
    parse,
    sha256_of,
)
from paretosoc.results.io.document import Document
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem

PROBLEM = Document(
    "problem", Problem, "problem.json: a complete numeric problem of paretosoc", __doc__
)
_NAMED = ("networks", "domains", "memory_pools", "units")
_SHA256: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()
"""Hashes of problems that were written out: several documents name the same one."""


def problem_bytes(problem: Problem) -> bytes:
    """Return the bytes of ``problem.json``.

    Raises:
        ResultError: if the problem is not sound.
    """
    data = canonical_bytes(problem_to_document(problem))
    _SHA256[problem] = sha256_of(data)
    return data


def problem_sha256(problem: Problem) -> str:
    """Return the hash that identifies the problem, that of the bytes of its file.

    Raises:
        ResultError: if the problem is not sound.
    """
    if problem not in _SHA256:
        problem_bytes(problem)
    return _SHA256[problem]


def problem_to_document(problem: Problem) -> dict[str, Json]:
    """Return the problem as JSON content. Clocks, networks and domains are given by name, tables as
    nested lists.

    Raises:
        ResultError: if the problem is not sound.
    """
    check_problem(problem)
    names = {key: [thing.name for thing in getattr(problem, key)] for key in _NAMED}
    return PROBLEM.write(problem, _context(names, problem))


def problem_from_bytes(data: bytes) -> Problem:
    """Return the problem in the bytes of a ``problem.json``.

    Raises:
        ResultError: if it is not a sound problem.
    """
    return problem_from_document(parse(data))


def problem_from_document(document: Json) -> Problem:
    """Return the problem that :func:`problem_to_document` gave this content for.

    Raises:
        ResultError: if the content does not follow the schema or is not sound. It names the JSON
            path.
    """
    content = PROBLEM.check(document)
    names = {key: [thing["name"] for thing in content.get(key, ())] for key in _NAMED}
    problem = PROBLEM.read(content, _context(names))
    check_problem(problem)
    for i, objective in enumerate(problem.objectives):
        name = objective.name_in(problem)
        if content["objectives"][i]["name"] != name:
            raise ResultError(f"$.objectives[{i}].name: must be {name!r}")
    return problem


def _context(names: dict[str, list[str]], problem: Problem | None = None) -> Context:
    for key, of_one_kind in names.items():
        if len(set(of_one_kind)) < len(of_one_kind):
            raise ResultError(f"$.{key}[*].name: a name stands twice")
    return Context(names, problem)


T = TypeVar("T")


def signed_content(
    kind: Document[T],
    document: Json,
    problem: Problem,
    *,
    check_hashes: bool = True,
    is_proof: bool = False,
) -> dict[str, Any]:
    """Return the content if it follows its schema.

    Args:
        kind: has the keys ``problem_sha256`` and ``content_sha256``.
        problem: the problem that it must be of.
        check_hashes: refuse content that was changed, or that belongs to another problem.
        is_proof: it may also be of :attr:`Problem.of_parts`.

    Raises:
        ResultError: naming the JSON path of a value that does not fit.
    """
    content = kind.check(document)
    if check_hashes:
        if is_proof:
            problem = problem.proved_in(content["objectives"])
        if content["problem_sha256"] != problem_sha256(problem):
            raise ResultError("$.problem_sha256: is not that of problem.json")
        check_signature(content)
    return content
