"""Check whether a tree proves its claim, part after part or in threads."""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.fitness.check.interpreted import interpreted, numbers
from paretosoc.fitness.check.make_facts import make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.work import Work, make_work
from paretosoc.results.front.proof_tree import MEMBERS, NODE_KINDS, PART, ProofTree
from paretosoc.results.problem.problem import Problem

IN_FLIGHT = 4
"""Parts that are given to the threads at a time, for each thread."""


@dataclass(frozen=True, eq=False)
class OpenPart:
    """A part without nodes: the choices above it, and bounds."""

    units: IntArray
    """[groups]: units, or -1."""
    points: IntArray
    """[domains]: masks of operating points."""
    bound: IntArray
    """[objectives]"""
    is_closed: bool
    """Whether members close these bounds, with the claim's tolerance."""


@dataclass(frozen=True, eq=False)
class TreeReport:
    """The findings of a check.

    ``wrong``: the fault that makes this no tree, or the node that claims to be closed and is not.
    None if there is no fault. ``open``: parts without nodes, by number. ``is_ended``: whether the
    deadline came before all parts were checked.
    """

    wrong: str | None
    open: dict[int, OpenPart]
    is_ended: bool = False

    @property
    def fault(self) -> str | None:
        """Return the reason for which the tree does not prove the claim, or None if it does."""
        if self.wrong is not None:
            return self.wrong
        still = [index for index, part in self.open.items() if not part.is_closed]
        return f"part {min(still)}: is open" if still else None


class TreeFault(Exception):
    """A tree that is none of the problem."""


def check_tree(
    problem: Problem,
    tree: ProofTree,
    claim: LemmaTarget,
    *,
    jobs: int | None = None,
    plain: bool = False,
    until: Deadline = NEVER,
    only_open: bool = False,
) -> TreeReport:
    """Check a tree.

    Open parts must be closed by members as well, which the tolerance of the claim may allow.

    Args:
        problem: unless ``plain``, its figures must fit in int64 with all their products
            (:mod:`dse.problem.int64_bounds`).
        jobs: threads of the compiled check; one per core by default.
        plain: interpret the check, in Python's integers.
        until: ends the check between two parts.
        only_open: find the open parts, a fifth of the work, and do not check what is closed.

    Raises:
        ResultError: see :meth:`fitness.check.target.LemmaTarget.require_bounds` and
            :func:`fitness.check.make_facts.make_facts`.
    """
    check = _Check(problem, tree, claim, plain=plain, only_walk=only_open)
    is_ended = not check.run(1 if plain else jobs or os.cpu_count() or 1, until)
    return TreeReport(check.wrong(), check.open, is_ended)


def leaves_of(
    problem: Problem, tree: ProofTree, claim: LemmaTarget, *, plain: bool = True
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the choices of all that is closed, in the order of the tree: (units, masks of
    operating points). That it is closed is not checked. ``plain``: see :func:`check_tree`.

    Raises:
        ResultError: see :func:`check_tree`.
        TreeFault: if the tree is none of the problem.
    """
    check = _Check(problem, tree, claim, plain=plain, only_walk=True, keep_leaves=True)
    check.run(1, NEVER)
    fault = check.wrong()
    if fault is not None:
        raise TreeFault(fault)
    rows = [row for index in sorted(check.leaves) for row in check.leaves[index].tolist()]
    groups = problem.group_count
    return [(tuple(row[:groups]), tuple(row[groups:])) for row in rows]


class _Check:
    """A tree whose parts are checked, each after the one that leads to it."""

    def __init__(
        self,
        problem: Problem,
        tree: ProofTree,
        claim: LemmaTarget,
        *,
        plain: bool,
        only_walk: bool = False,
        keep_leaves: bool = False,
    ) -> None:
        claim.require_bounds(problem)
        self._problem, self._plain = problem, plain
        self._only_walk, self._keep_leaves = only_walk, keep_leaves
        self._facts, self._parts = make_facts(problem, claim, exact=plain), tree.parts
        self.leaves: dict[int, IntArray] = {}
        """By part, [leaves, groups + domains]."""
        leading = np.array([int((part == PART).sum()) for part in tree.parts])
        self._first_of = 1 + np.concatenate(([0], np.cumsum(leading)))
        self._own = threading.local()
        self._faults: dict[int, str] = {}
        self.open: dict[int, OpenPart] = {}
        there = len(tree.parts)
        # An earlier part leads to every one: so none leads to itself, by whatever way.
        for index in np.flatnonzero(self._first_of[:-1] <= np.arange(there))[:1].tolist():
            self._faults[index] = f"part {index}: no node leads to it"
        if there < self._first_of[-1]:
            self._faults[there] = f"part {there} is missing"

    def run(self, jobs: int, until: Deadline) -> bool:
        """Check all parts, unless their number is wrong or one has a fault.

        Returns whether that was done before the deadline.
        """
        nothing = np.full(self._facts.groups, -1, dtype=np.int64)
        ready = [(0, nothing, np.array(self._problem.allowed_points, dtype=numbers(self._plain)))]
        flying: set[Future[list[tuple[int, IntArray, IntArray]]]] = set()
        with ThreadPoolExecutor(jobs) as pool:
            while (ready or flying) and not self._faults:
                if until.is_past:
                    return False
                while ready and len(flying) < IN_FLIGHT * jobs:
                    flying.add(pool.submit(self._part, *ready.pop()))
                done, flying = wait(flying, return_when=FIRST_COMPLETED)
                for part in done:
                    ready += part.result()
        return True

    def wrong(self) -> str | None:
        """Return the first fault, in the order of parts."""
        return self._faults[min(self._faults)] if self._faults else None

    def _part(
        self, index: int, units: IntArray, points: IntArray
    ) -> list[tuple[int, IntArray, IntArray]]:
        """Check a part and return the parts below it."""
        from paretosoc.fitness.check.walk import FAULTS, SOUND, check_part

        run = interpreted(check_part) if self._plain else check_part
        work = self._work()
        nodes = self._parts[index]
        is_open = len(nodes) == 0
        count = int(self._first_of[index + 1] - self._first_of[index])
        rows = np.zeros((count, len(units)), np.int64), np.zeros((count, len(points)), points.dtype)
        where = np.zeros(1, dtype=np.int64)
        # A copy, for the kernel takes no array that cannot be written.
        kinds = np.array([MEMBERS] if is_open else nodes, dtype=np.uint8)
        closed = int((nodes > PART).sum()) if self._only_walk else 0
        leaves = np.zeros((closed, len(units) + len(points)), points.dtype)
        found = run(self._facts, work, kinds, units, points, *rows, leaves, where)
        if self._keep_leaves:
            self.leaves[index] = leaves
        if is_open:
            bound = work.vector.copy()
            self.open[index] = OpenPart(units, points, bound, found == SOUND)
        elif found != SOUND:
            at = int(where[0])
            kind = NODE_KINDS[nodes[at]] if at < len(nodes) else ""
            self._faults[index] = f"part {index}: node {at} {FAULTS[found].format(kind=kind)}"
        first = int(self._first_of[index])
        return [(first + k, rows[0][k], rows[1][k]) for k in range(count)]

    def _work(self) -> Work:
        """Return the work arrays of this thread."""
        if not hasattr(self._own, "work"):
            self._own.work = make_work(self._facts)
        work: Work = self._own.work
        return work
