"""The fastest design point: the exact front of one objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate.branch_and_bound import Incumbents, SearchProgress, find_front
from paretosoc.dse.certificate.subtree import Subtree, proof_tree
from paretosoc.results.front.proof_tree import ProofTree
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True, eq=False)
class FastestResult:
    """The best design point of the search, and its tree.

    ``best`` is None if no design point is better than the one that the search started from, or none
    is feasible. ``best_value`` is its value, or the one started from (None: neither). No design
    point is below ``bound``.
    """

    complete: bool
    best: DesignPoint | None
    best_value: int | None
    bound: int
    root: Subtree
    prices: tuple[tuple[int, ...], ...]
    nodes: int
    seconds: float

    @property
    def tree(self) -> ProofTree:
        """Return the proof: closed nodes with their reasons."""
        return proof_tree(self.root)


def find_fastest(
    problem: Problem,
    *,
    known: int | None = None,
    sums_rates: bool = False,
    max_nodes: int | None = None,
    until: Deadline = NEVER,
    resume_from: Subtree | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
) -> FastestResult:
    """Find the smallest makespan, one of the problem's objectives.

    Args:
        known: a value that some feasible design point has. Only better ones are searched for.
        sums_rates: minimise -sum of floor(10^18 / T_n) in uHz (Eq. 10 of HaX-CoNN) instead.
        max_nodes, until, resume_from, on_progress: see
            :func:`dse.certificate.branch_and_bound.find_front`.

    Raises:
        ResultError: as :func:`dse.certificate.branch_and_bound.find_front`.
    """
    kind = ObjectiveKind.INVERSE_LATENCY if sums_rates else ObjectiveKind.LATENCY
    result = find_front(
        problem,
        objectives=(problem.objectives.index(Objective(kind)),),
        known=None if known is None else Incumbents(np.array([[known]], dtype=np.int64)),
        max_nodes=max_nodes,
        until=until,
        resume_from=resume_from,
        on_progress=on_progress,
    )
    value = int(result.objectives[0, 0]) if len(result.objectives) else None
    below = INT64_MAX if value is None else value
    best = None
    if value is not None and result.rows[0, 0] >= 0:
        best = problem.design_of(result.rows[0])
    return FastestResult(
        complete=result.complete,
        best=best,
        best_value=value,
        bound=min(int(result.open_bounds.min(initial=INT64_MAX)), below),
        root=result.root,
        prices=result.prices,
        nodes=result.nodes,
        seconds=result.seconds,
    )
