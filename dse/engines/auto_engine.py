"""The default engine, NSGA-II and the exact search by turns, and the exact search alone, which
starts from the obvious answers. The proof does the rest."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.branch_and_bound import Incumbents, find_front
from paretosoc.dse.certificate.certify import usual_nodes
from paretosoc.dse.certificate.preconditions import Goal, check_provable, provable
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.dse.search.base import EngineState, ResumableEngine
from paretosoc.dse.search.optimizers.initial_population import heuristic_seeds
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.results.errors import ResultError


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
        problem = self._space.problem.of_parts
        found = find_front(problem, max_nodes=usual_nodes(problem))
        return self._space.canonical(found.rows) if len(found.rows) else nothing

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Note whether one of the rows keeps all constraints."""
        self._feasible |= bool(outcomes.feasible.any())


FIRST_TURN, GROWTH = 2_000, 4
"""Evaluations before the first turn of the exact search, and by how many times as many each later
one comes."""
NODES_PER_EVALUATION = 8
"""Nodes of a turn, as a multiple of the evaluations before it. A turn takes two to four times as
long as these evaluations. With 3 nodes a turn is shorter, but the proof is found a turn later."""
FEW_GROUPS = 48
"""With more groups a turn has fewer nodes, by the square: each takes longer and proves less."""


def nsga2_and_exact(space: DesignSpace, *, seed: int) -> ResumableEngine:
    """Return NSGA-II, with turns of the exact search if that can prove the whole front."""
    nsga2 = RestartingNsga2(space, seed=seed)
    try:
        can_prove = provable(space.problem, Goal.WHOLE_FRONT).front is not None
    except ResultError:
        can_prove = False
    return AutoEngine(space, nsga2) if can_prove else nsga2


class AutoEngine:
    """NSGA-II that asks the exact search now and then, from its front, and ends with a proof.

    Rows that the exact search finds are evaluated with those of NSGA-II. A proof of the front is
    not kept: it took few nodes, and :func:`dse.certificate.strategy.prove_front` repeats it from
    the final front.
    """

    name = RestartingNsga2.name

    def __init__(self, space: DesignSpace, nsga2: RestartingNsga2) -> None:
        self._problem = space.problem.of_parts
        load_proof_code(self._problem)
        self._parts = None if self._problem is space.problem else make_outcomes(self._problem)
        """Of a problem with objectives of a user's own."""
        self._space = space
        self._nsga2 = nsga2
        self._evaluated = 0
        self._next_turn = FIRST_TURN
        self._is_proved = False

    def ask(self) -> IntArray:
        """Return the next rows of NSGA-II and those that the exact search has found, or none once
        it has proved the front."""
        nothing = np.zeros((0, self._space.width), dtype=np.int64)
        if self._is_proved:
            return nothing
        found, proved = nothing, False
        if self._evaluated >= self._next_turn:
            self._next_turn = GROWTH * self._evaluated
            found, proved = self._turn()
        self._is_proved = proved
        if proved:
            return found
        return np.concatenate((self._nsga2.ask(), found))

    def _turn(self) -> tuple[IntArray, bool]:
        """Search from the front so far. Return the new rows, and whether none is missing."""
        rows, objectives = self._nsga2.members
        if self._parts is not None:
            objectives = self._parts(rows).objectives
        share = min(1.0, FEW_GROUPS / self._problem.group_count) ** 2
        result = find_front(
            self._problem,
            known=Incumbents(objectives, rows),
            max_nodes=max(1, int(share * NODES_PER_EVALUATION * self._evaluated)),
            jobs=1,
        )
        known = set(map(tuple, objectives.tolist()))
        new = [tuple(values) not in known for values in result.objectives.tolist()]
        return self._space.canonical(result.rows[new]), result.complete

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Pass the outcomes on. The rows of the exact search are neighbours to NSGA-II."""
        self._evaluated += len(rows)
        if not self._is_proved:
            self._nsga2.tell(rows, outcomes)

    def state(self) -> EngineState:
        """Return NSGA-II's state and when the next turn is."""
        inner = self._nsga2.state()
        turns = np.array([self._evaluated, self._next_turn, self._is_proved], dtype=np.int64)
        return EngineState(arrays={**inner.arrays, "turns": turns}, generator=inner.generator)

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        turns = state.array("turns", np.int64, (3,), least=0)
        self._evaluated, self._next_turn = int(turns[0]), int(turns[1])
        self._is_proved = bool(turns[2])
        self._nsga2.restore(state)
