"""What lifting the leaves of a tree would save: choices are dropped as long as the bound closes.

Of each leaf's choices, the last first, each is dropped without which the plain checker still closes
it. A leaf is then left over unless another, lifted, has all of it. Each choice is a question that
costs as much as a node.

Usage: ``python -m benchmarks.speed.lifting [--json]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.certificate import random_chains
from benchmarks.harness.report import Column, parser, show
from benchmarks.problems.reference_problem import reference_problem
from dse.certificate.branch_and_bound import Incumbents, find_front
from fitness.lemma_checker.check import LemmaChecker, is_closed
from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.costs import Points
from fitness.lemma_checker.tree import LemmaWalk
from results.front.certificate import NOT_NAMED
from results.front.node_kinds import PART
from results.problem.problem import Problem

COLUMNS = (
    Column("instance", "instance"),
    Column("leaves", "leaves", ","),
    Column("choices", "choices a leaf", ",.1f"),
    Column("dropped", "of them dropped", ".1%"),
    Column("left", "leaves left", ".1%"),
)
Choices = tuple[tuple[int, ...], tuple[Points, ...]]
"""Units of groups, operating points of domains."""


@dataclass(frozen=True)
class Lifted:
    """One row; ``left``: the share of leaves that no other one covers."""

    instance: str
    leaves: int
    choices: float
    dropped: float
    left: float


def measure(instance: str, problem: Problem, columns: tuple[int, ...]) -> Lifted:
    """The tree of the front in these objectives, from its own members."""
    found = find_front(problem, objectives=columns)
    known = Incumbents(found.objectives, found.rows)
    result = find_front(problem, objectives=columns, known=known)
    members = tuple(map(tuple, result.objectives.tolist()))
    claim = LemmaTarget(columns, members, rates_mw=result.rates_mw)
    checker = LemmaChecker(problem, claim)
    walk = LemmaWalk(problem, checker)
    root = walk.root()

    def closes(at: Choices, kind: int) -> bool:
        units, points = at
        costs = checker.costs.over(points)
        state = checker.simulation.resume(root.state, units, costs)
        return is_closed(problem, checker.bound(state, units, points, costs), claim, kind)

    leaves: list[Choices] = []
    lifted: list[Choices] = []
    choices = dropped = 0
    for _, kind, node in walk.ends(result.tree):
        if kind == PART:
            continue
        leaves.append((node.units, node.points))
        units, points = list(node.units), list(node.points)
        for g in reversed(range(len(units))):
            if units[g] != NOT_NAMED:
                choices += 1
                kept, units[g] = units[g], NOT_NAMED
                if closes((tuple(units), tuple(points)), kind):
                    dropped += 1
                else:
                    units[g] = kept
        for d, every in enumerate(root.points):
            if points[d] != every:
                choices += 1
                before, points[d] = points[d], every
                if closes((tuple(units), tuple(points)), kind):
                    dropped += 1
                else:
                    points[d] = before
        lifted.append((tuple(units), tuple(points)))
    count = len(leaves)
    left = _left(leaves, lifted)
    return Lifted(instance, count, choices / count, dropped / choices, left / count)


def _left(leaves: Sequence[Choices], lifted: Sequence[Choices]) -> int:
    """How many lifted leaves it takes to have all leaves, the most general first."""

    def size(index: int) -> tuple[int, int]:
        units, points = lifted[index]
        return sum(u != NOT_NAMED for u in units), -sum(map(len, points))

    kept: list[Choices] = []
    for index in sorted(range(len(leaves)), key=size):
        if not any(_has(outer, leaves[index]) for outer in kept):
            kept.append(lifted[index])
    return len(kept)


def _has(outer: Choices, inner: Choices) -> bool:
    return all(a in (NOT_NAMED, b) for a, b in zip(outer[0], inner[0], strict=True)) and all(
        set(a) >= set(b) for a, b in zip(outer[1], inner[1], strict=True)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    description = "What lifting the leaves of trees would save."
    chosen = parser("benchmarks.speed.lifting", description).parse_args(arguments)
    rows = [
        asdict(measure(name, problem, columns))
        for name, problem, columns in (
            ("2 x 10 groups, fastest", random_chains(2, 10, 2, max_transitions=1), (0,)),
            ("reference, 1 clock, fastest", reference_problem(points=False), (0,)),
            ("reference, 1 transition, front", reference_problem(max_transitions=1), (0, 1)),
        )
    ]
    show("Lifted leaves", COLUMNS, rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
