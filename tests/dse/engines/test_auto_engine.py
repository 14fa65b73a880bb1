"""NSGA-II and the exact search by turns."""

from dataclasses import replace

import numpy as np

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.engines import auto_engine
from paretosoc.dse.engines.auto_engine import AutoEngine, nsga2_and_exact
from paretosoc.dse.search.checkpoint import CheckpointFile, Identity
from paretosoc.dse.search.driver import Budget, StoppedBy, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.limits import constraints_of


def explored(space, evaluations, **options):
    engine = nsga2_and_exact(space, seed=1)
    return search(engine, make_outcomes(space.problem), Budget(evaluations), **options)


def test_a_search_ends_with_the_turn_that_proves_its_front():
    space = DesignSpace(reference_problem(max_transitions=1))
    result = explored(space, 100_000)
    assert result.stopped_by is StoppedBy.EXHAUSTED
    assert auto_engine.FIRST_TURN <= result.evaluations < 2 * auto_engine.FIRST_TURN
    exact = find_front(space.problem)
    assert sorted(map(tuple, result.objectives)) == sorted(map(tuple, exact.objectives))


def test_what_a_turn_finds_is_evaluated_and_an_unfinished_proof_ends_nothing(monkeypatch):
    monkeypatch.setattr(auto_engine, "FIRST_TURN", 200)
    monkeypatch.setattr(auto_engine, "NODES_PER_EVALUATION", 1)
    space = DesignSpace(reference_problem(max_transitions=1))
    turns = []

    def counted(self):
        turns.append(turn(self))
        return turns[-1]

    turn = AutoEngine._turn
    monkeypatch.setattr(AutoEngine, "_turn", counted)
    result = explored(space, 1_500)
    assert [proved for _, proved in turns] == [False] * len(turns)
    assert len(turns) == 2
    assert result.stopped_by is StoppedBy.BUDGET
    new = np.concatenate([rows for rows, _ in turns])
    for values in make_outcomes(space.problem)(new).objectives:
        assert (result.objectives <= values).all(axis=1).any()


def test_turns_come_at_the_same_evaluations_after_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(auto_engine, "FIRST_TURN", 500)
    monkeypatch.setattr(auto_engine, "NODES_PER_EVALUATION", 1)
    space = DesignSpace(reference_problem(max_transitions=1))
    whole = explored(space, 3_000)
    identity = Identity("0" * 64, AutoEngine.name, 1, "0")
    kept = CheckpointFile(tmp_path / "state", identity, space, len(constraints_of(space.problem)))
    explored(space, 1_000, checkpoint=kept)
    resumed = explored(space, 3_000, checkpoint=kept)
    assert resumed.evaluations == whole.evaluations
    assert np.array_equal(resumed.rows, whole.rows)


def test_a_problem_without_a_proof_has_no_turns():
    problem = replace(reference_problem(), searched_order=SearchedOrder.NETWORKS)
    assert not isinstance(nsga2_and_exact(DesignSpace(problem), seed=0), AutoEngine)
