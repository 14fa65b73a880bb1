"""Proofs by random boxes and random weights."""

from __future__ import annotations

import numpy as np

from paretosoc.fitness.check.boxes.costs import whole_space
from paretosoc.fitness.check.boxes.frame_time import frame_time
from paretosoc.fitness.multipliers.structure import chains_of, paths_of
from paretosoc.results.front.bounds import BoundProof, Leaf, Multipliers, Split
from paretosoc.results.problem.execution import ClosedForm, FreeRunning
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256

WEIGHTS = 12


def random_proof(rng: np.random.Generator, problem: Problem) -> BoundProof:
    """Boxes and weights at random; nothing says that they are any good."""
    chains = chains_of(problem)
    classes: tuple[tuple[int, ...], ...] = ()
    apart: tuple[int, ...] = ()

    def begins() -> tuple[int, ...]:
        return (0, *sorted({int(kbps) * 10**6 for kbps in rng.integers(1, 90, rng.integers(3))}))

    if rng.integers(2) and not isinstance(problem.execution, ClosedForm | FreeRunning):
        networks = rng.permutation(len(problem.networks))
        if frame_time(problem, range(len(problem.objectives))).in_flight == 1:
            apart = tuple(networks[: rng.integers(len(networks) + 1)].tolist())
        classes = tuple(
            tuple(begin for _ in range(1 + len(apart)) for begin in begins()) if u == first else ()
            for u, first in enumerate(problem.unit_of)
        )
    firsts = [int(u == first) for u, first in enumerate(problem.unit_of)]
    sizes = [len(row) for row in classes] or firsts
    figures = len(additive_figures(problem))

    def weights(count: int, most: int) -> tuple[int, ...]:
        return tuple((rng.integers(0, most + 1, count) * (rng.random(count) < 0.6)).tolist())

    def multipliers() -> Multipliers:
        most = int(10 ** rng.integers(0, 6))
        return Multipliers(
            energy=int(rng.integers(3)),
            units=tuple(weights(size, most) for size in sizes),
            chains=weights(len(chains), most),
            segments=weights(len(problem.units), 10**9 if rng.integers(2) else 0),
            figures=weights(figures, int(10 ** rng.integers(0, 9))),
        )

    tree: list[Split | Leaf] = []

    def divide(box: tuple[int, ...], depth: int) -> None:
        d = int(rng.integers(len(box)))
        bits = [k for k in range(8) if box[d] >> k & 1]
        if depth == 3 or len(bits) < 2:
            tree.append(Leaf(tuple(range(WEIGHTS))))
            return
        chosen = rng.permutation(bits)[: int(rng.integers(1, len(bits)))]
        mask = sum(1 << int(k) for k in chosen)
        tree.append(Split(d, mask))
        for part in (box[d] & mask, box[d] & ~mask):
            divide((*box[:d], part, *box[d + 1 :]), depth + 1)

    divide(whole_space(problem), 0)
    return BoundProof(
        problem_sha256=problem_sha256(problem),
        objectives=problem.objective_names,
        region=(),
        chains=chains,
        paths=paths_of(problem),
        apart=apart,
        classes=classes,
        multipliers=tuple(multipliers() for _ in range(WEIGHTS)),
        tree=tuple(tree),
        seconds=0.0,
    )


def random_corner(rng: np.random.Generator, values: np.ndarray) -> tuple[int | None, ...]:
    """At, somewhat below or far below a design point; some values left out."""
    point = values[rng.integers(len(values))].tolist()
    share = rng.choice([0.0, 0.001, 0.3, 0.9]) * rng.random()
    corner = [value - int(abs(value) * share) - int(rng.integers(2)) for value in point]
    return tuple(None if rng.integers(4) == 0 else value for value in corner)
