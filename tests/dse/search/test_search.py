"""The search against plain enumeration, its budgets, and the archive."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.driver import MIN_PART, Budget, StoppedBy, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.limits import constraints_of
from tests.support.problems.small_spaces import enumerated, exact_front, small_space


@pytest.mark.parametrize("seed", range(12))
def test_finds_the_front_of_small_problems(seed):
    space = small_space(seed)
    result = search(Nsga2Engine(space, seed=seed), make_outcomes(space.problem), Budget(6_000))
    front, _ = exact_front(space)
    assert {tuple(row) for row in result.objectives.tolist()} == front
    assert len(result.rows) == len(front)


@pytest.mark.parametrize("seed", range(6))
def test_constraints_hold_and_the_feasible_front_is_found(seed):
    space = small_space(seed + 100)
    _, free = exact_front(space)
    possible = free.objectives[free.possible]
    cap = int(np.quantile(possible[:, 1], 0.4))
    deadline = int(np.quantile(possible[:, 0], 0.6))
    network = replace(space.problem.networks[0], deadline_ps=deadline)
    problem = replace(
        space.problem,
        energy_budget_fj=cap,
        networks=(network, *space.problem.networks[1:]),
    )
    space = DesignSpace(problem)
    front, outcomes = exact_front(space)
    result = search(Nsga2Engine(space, seed=seed), make_outcomes(problem), Budget(6_000))
    assert {tuple(row) for row in result.objectives.tolist()} == front
    found = make_outcomes(problem)(result.rows) if len(result.rows) else None
    if found is not None:
        limits = [entry.limit for entry in constraints_of(problem)]
        assert (found.constraint_values <= limits).all()
    assert (
        result.least_constraint_values >= outcomes.constraint_values[outcomes.possible].min(axis=0)
    ).all()


def test_no_part_is_begun_that_would_end_after_the_time_limit(monkeypatch):
    space = small_space(1)
    judged = make_outcomes(space.problem)
    now = [100.0]
    monkeypatch.setattr("paretosoc.dse.search.driver.compiling.clock", lambda: now[0])

    def slow(rows):
        now[0] += len(rows)
        return judged(rows)

    result = search(Nsga2Engine(space, seed=1), slow, Budget(10**9, seconds=9.5))
    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert (result.evaluations, result.seconds) == (8, 8.0)


def test_a_time_limit_is_used_up_to_the_last_batch_that_fits(monkeypatch):
    """A part may have 250 rows of a millisecond, but no batch of so small a population does."""
    space = DesignSpace(reference_problem())
    judged = make_outcomes(space.problem)
    now = [100.0]
    monkeypatch.setattr("paretosoc.dse.search.driver.compiling.clock", lambda: now[0])

    def slow(rows):
        now[0] += len(rows) / 1000
        return judged(rows)

    engine = Nsga2Engine(space, seed=1, population=20, neighbours=0)
    result = search(engine, slow, Budget(10**9, seconds=0.2))
    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert 0.16 < result.seconds < 0.2


def test_budget_counts_evaluations_and_time_limit_ends_the_search():
    space = small_space(1)
    seen = []
    evaluate = make_outcomes(space.problem)

    def counting(rows):
        seen.append(len(rows))
        return evaluate(rows)

    result = search(Nsga2Engine(space, seed=1, population=20), counting, Budget(30))
    assert result.evaluations == sum(seen) == 30
    assert result.stopped_by is StoppedBy.BUDGET
    result = search(Nsga2Engine(space, seed=1), evaluate, Budget(10**9, seconds=1e-9))
    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert result.evaluations == MIN_PART, "something is evaluated, and no more than one part"


def test_parts_of_a_batch_give_what_the_whole_gives():
    space = small_space(1)
    evaluate = make_outcomes(space.problem)
    sizes = []

    def noting(rows):
        sizes.append(len(rows))
        return evaluate(rows)

    whole = search(Nsga2Engine(space, seed=1), evaluate, Budget(900))
    parts = search(Nsga2Engine(space, seed=1), noting, Budget(900, seconds=1e6))
    assert sizes[0] == MIN_PART
    assert sum(sizes) == parts.evaluations == whole.evaluations
    assert np.array_equal(parts.rows, whole.rows)
    assert np.array_equal(parts.objectives, whole.objectives)
    assert np.array_equal(parts.least_constraint_values, whole.least_constraint_values)


def test_a_space_of_one_point_is_exhausted():
    problem = small_space(2).problem
    allowed = np.zeros_like(problem.allowed)
    allowed[np.arange(len(allowed)), problem.allowed.argmax(axis=1)] = True
    domains = tuple(
        replace(domain, allowed=np.arange(len(domain.frequencies_khz)) == 0)
        for domain in problem.domains
    )
    space = DesignSpace(replace(problem, allowed=allowed, domains=domains))
    assert space.combinations == 1
    result = search(Nsga2Engine(space, seed=0), make_outcomes(space.problem), Budget(1000))
    assert result.stopped_by is StoppedBy.EXHAUSTED
    assert len(result.rows) == result.evaluations == 1


def test_progress_and_snapshots_only_ever_improve():
    space = small_space(4)
    volumes = []
    result = search(
        Nsga2Engine(space, seed=0),
        make_outcomes(space.problem),
        Budget(2000),
        on_progress=lambda progress: volumes.append(progress.hypervolume),
    )
    assert volumes == sorted(volumes)
    assert volumes[-1] > 0
    for earlier, later in itertools.pairwise(result.snapshots):
        both = np.concatenate((later.objectives, earlier.objectives))
        assert set(non_dominated(both)) == set(range(len(later.objectives)))


def test_an_interrupt_from_the_function_that_looks_keeps_the_front():
    space, looked = small_space(4), []

    def stop(progress):
        looked.append(progress)
        if len(looked) == 3:
            raise KeyboardInterrupt

    engine, evaluate = Nsga2Engine(space, seed=0), make_outcomes(space.problem)
    result = search(engine, evaluate, Budget(10**9), on_progress=stop)
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert result.evaluations == looked[2].evaluations
    assert result.objectives.tolist() == looked[2].objectives.tolist()


def test_archive_keeps_the_first_of_equal_vectors_and_what_a_batch_dominates_goes():
    space = small_space(5)
    rows = enumerated(space)
    evaluate = make_outcomes(space.problem)
    whole = Archive(space.width, 2, len(constraints_of(space.problem)))
    whole.add(rows, evaluate(rows))
    parts = Archive(space.width, 2, len(constraints_of(space.problem)))
    for begin in range(0, len(rows), 7):
        parts.add(rows[begin : begin + 7], evaluate(rows[begin : begin + 7]))
    assert np.array_equal(whole.objectives, parts.objectives)
    assert np.array_equal(whole.rows, parts.rows)
    assert not parts.add(rows, evaluate(rows)), "nothing is new the second time"
