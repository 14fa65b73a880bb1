"""The savings of lifting the leaves of a tree: choices are dropped as long as the bound closes.

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
from paretosoc.dse.certificate.branch_and_bound import Incumbents, find_front
from paretosoc.fitness.check.lemmas import Lemma, Lemmas
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import leaves_of
from paretosoc.results.front.certificate import NOT_NAMED
from paretosoc.results.front.proof_tree import PART
from paretosoc.results.problem.problem import Problem

COLUMNS = (
    Column("instance", "instance"),
    Column("leaves", "leaves", ","),
    Column("choices", "choices a leaf", ",.1f"),
    Column("dropped", "of them dropped", ".1%"),
    Column("left", "leaves left", ".1%"),
)


@dataclass(frozen=True)
class Lifted:
    """One row. ``left``: the share of leaves that no other one covers."""

    instance: str
    leaves: int
    choices: float
    dropped: float
    left: float


def measure(instance: str, problem: Problem, columns: tuple[int, ...]) -> Lifted:
    """Lift the leaves of the tree of the front in these objectives, from its own members."""
    found = find_front(problem, objectives=columns)
    known = Incumbents(found.objectives, found.rows)
    result = find_front(problem, objectives=columns, known=known)
    members = tuple(map(tuple, result.objectives.tolist()))
    claim = LemmaTarget(columns, members, prices=result.prices)
    lemmas = Lemmas(problem, claim)
    root = lemmas.root()
    leaves = [Lemma(*choices) for choices in leaves_of(problem, result.tree, claim)]
    kinds = [kind for part in result.tree.parts for kind in part.tolist() if kind > PART]
    lifted: list[Lemma] = []
    choices = dropped = 0
    for lemma, kind in zip(leaves, kinds, strict=True):
        for g in reversed(range(len(lemma.units))):
            if lemma.units[g] != NOT_NAMED:
                choices += 1
                units = (*lemma.units[:g], NOT_NAMED, *lemma.units[g + 1 :])
                without = Lemma(units, lemma.points)
                if lemmas.closes(without, kind):
                    dropped += 1
                    lemma = without
        for d, every in enumerate(root.points):
            if lemma.points[d] != every:
                choices += 1
                points = (*lemma.points[:d], every, *lemma.points[d + 1 :])
                without = Lemma(lemma.units, points)
                if lemmas.closes(without, kind):
                    dropped += 1
                    lemma = without
        lifted.append(lemma)
    count = len(leaves)
    left = _left(leaves, lifted)
    return Lifted(instance, count, choices / count, dropped / choices, left / count)


def _left(leaves: Sequence[Lemma], lifted: Sequence[Lemma]) -> int:
    """Return how many lifted leaves it takes to have all leaves, the most general first."""

    def size(index: int) -> tuple[int, int]:
        lemma = lifted[index]
        return sum(u != NOT_NAMED for u in lemma.units), -sum(map(int.bit_count, lemma.points))

    kept: list[Lemma] = []
    for index in sorted(range(len(leaves)), key=size):
        if not any(_has(outer, leaves[index]) for outer in kept):
            kept.append(lifted[index])
    return len(kept)


def _has(outer: Lemma, inner: Lemma) -> bool:
    return all(a in (NOT_NAMED, b) for a, b in zip(outer.units, inner.units, strict=True)) and all(
        a & b == b for a, b in zip(outer.points, inner.points, strict=True)
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
