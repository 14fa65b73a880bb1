"""The exact search as an engine: it starts from the obvious answers, the proof does the rest."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.certificate.certify import DEFAULT_NODES
from paretosoc.dse.certificate.preconditions import check_provable
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.dse.search.optimizers.initial_population import heuristic_seeds
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.fitness.objectives import Outcomes


class ExactEngine:
    """An engine that proposes the obvious answers.

    If none of them keeps all constraints it searches for design points that do, so that
    :func:`dse.certificate.strategy.prove_front` has a front to begin with.

    Raises:
        ResultError: if the front cannot be proved, see
            :func:`dse.certificate.preconditions.check_provable`.
    """

    name = "exact"

    def __init__(self, space: DesignSpace, *, seed: int) -> None:
        problem = space.problem.of_parts
        check_provable(problem, range(len(problem.objectives)))
        load_proof_code(problem)
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._asked = 0
        self._feasible = False

    def ask(self) -> IntArray:
        """Return the obvious rows, then, if none is feasible, all rows that the search has
        found."""
        self._asked += 1
        if self._asked == 1:
            rows = self._space.repair(self._rng, heuristic_seeds(self._space))
            return rows[unique_rows(rows)]
        nothing = np.zeros((0, self._space.width), dtype=np.int64)
        if self._asked > 2 or self._feasible:
            return nothing
        found = find_front(self._space.problem.of_parts, max_nodes=DEFAULT_NODES)
        return self._space.canonical(found.rows) if len(found.rows) else nothing

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Note whether one of the rows keeps all constraints."""
        self._feasible |= bool(outcomes.feasible.any())
