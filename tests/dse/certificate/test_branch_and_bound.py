"""Branch and bound against enumeration: the optimum, every lemma, and that they cover the space."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common.deadline import Deadline
from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.branch_and_bound import SearchProgress, find_front
from paretosoc.dse.certificate.improve import FastestResult, find_fastest
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.proof_tree import tree_bytes
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import (
    NOTHING,
    Space,
    random_limited_problem,
    random_power_problem,
    space_of,
)
from tests.support.proofs.lemmas import leaves_of
from tests.support.sample import SAMPLE

CHUNKS, CHUNK = 2 * SAMPLE, 40
REFERENCE = {1: 7_533_629_335, 2: 7_325_701_235, None: 7_325_701_235}
"""Most transitions per network -> T* in ps."""
LEMMAS_FROM_OPTIMUM = {1: 102, 2: 492, None: 2326}
"""With one operating point: what the search leaves when it knows T*."""


def limited_problems(chunk: int) -> list[Problem]:
    rng = np.random.default_rng([5, chunk])
    return [random_limited_problem(rng) for _ in range(CHUNK)]


def require_proof(space: Space, result: FastestResult, best: int | None) -> None:
    """Every leaf holds, and together they leave no mapping that obeys the rules."""
    lemmas = leaves_of(space.problem, result.tree, (0,))
    covered = np.zeros_like(space.obeys_mapping_rules)
    for index in range(len(lemmas)):
        cells = space.cells(lemmas, index)
        if best is None:
            assert space.value[cells].min() == NOTHING, f"lemma {index}"
        else:
            assert space.value[cells].min(initial=NOTHING) >= best, f"lemma {index}"
        covered[cells] = True
    assert covered[space.obeys_mapping_rules].all()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_optimum_and_lemmas_against_enumeration(chunk: int) -> None:
    for problem in limited_problems(chunk):
        space = space_of(problem)
        result = find_fastest(problem)
        assert result.complete
        assert result.best_value == space.best
        if result.best is None or space.best is None:
            assert space.best is None
        else:
            found = make_outcomes(problem)(result.best.row[None])
            assert found.feasible[0]
            assert int(found.objectives[0, 0]) == space.best
            assert plain_timeline.simulate(problem, result.best).frame_end_ps[0] == space.best
            assert result.bound == space.best
        require_proof(space, result, space.best)
        if space.best is not None:
            again = find_fastest(problem, known=space.best)
            assert again.complete
            assert again.best is None
            assert (again.best_value, again.bound) == (space.best, space.best)
            assert again.nodes <= result.nodes
            require_proof(space, again, space.best)


def test_the_sample_is_varied() -> None:
    seen: Counter[str] = Counter()
    for chunk in range(CHUNKS):
        for problem in limited_problems(chunk):
            networks, units = problem.networks, problem.units
            incoming = Counter(target for _, target in problem.edges)
            outgoing = Counter(source for source, _ in problem.edges)
            seen["four networks"] += len(networks) == 4
            seen["three units"] += len(units) == 3
            seen["graph"] += max([*incoming.values(), *outgoing.values()], default=0) > 1
            seen["several clocks"] += sum(int(d.allowed.sum()) > 1 for d in problem.domains) > 1
            seen["priorities"] += problem.has_priorities
            seen["repeats"] += any(network.repeats > 1 for network in networks)
            seen["waits"] += any(network.waits_for for network in networks)
            seen["arrival"] += any(network.arrival_ps for network in networks)
            seen["transitions"] += any(n.max_transitions is not None for n in networks)
            seen["segments"] += any(unit.max_segments is not None for unit in units)
            seen["deadline"] += any(network.deadline_ps is not None for network in networks)
            seen["points"] += any(not domain.allowed.all() for domain in problem.domains)
            seen["contention"] += any(unit.contention is not None for unit in units)
            seen["grows"] += any(
                unit.step_ps is not None and unit.step_ps[g].any() and problem.repeats[g] > 1
                for unit in units
                for g in range(problem.group_count)
            )
            seen["hand-over"] += bool(problem.handovers)
    assert min(seen.values()) >= 10, seen


@pytest.mark.parametrize("objective", [ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY])
@pytest.mark.parametrize("chunk", range(1))
def test_limits_on_power_energy_and_period(objective: ObjectiveKind, chunk: int) -> None:
    rng = np.random.default_rng([6, chunk])
    feasible = 0
    for _ in range(CHUNK):
        problem = random_power_problem(rng, objective)
        space = space_of(problem)
        result = find_fastest(problem, sums_rates=objective is ObjectiveKind.INVERSE_LATENCY)
        assert result.complete
        assert result.best_value == space.best
        require_proof(space, result, space.best)
        feasible += space.best is not None
    assert 0 < feasible < CHUNK


@pytest.mark.parametrize("points", [False, True])
@pytest.mark.parametrize("most", [1, 2, None])
def test_reference_problem(most: int | None, points: bool) -> None:
    problem = reference_problem(max_transitions=most, points=points)
    found = find_fastest(problem)
    assert found.complete
    assert (found.best_value, found.bound) == (REFERENCE[most], REFERENCE[most])
    assert found.best is not None
    assert plain_timeline.simulate(problem, found.best).frame_end_ps[0] == REFERENCE[most]
    proved = find_fastest(problem, known=REFERENCE[most])
    assert proved.complete
    assert proved.best is None
    assert proved.tree.leaves < found.tree.leaves < found.nodes
    if not points:
        assert proved.tree.leaves == LEMMAS_FROM_OPTIMUM[most]
    better = find_fastest(problem, known=REFERENCE[most] + 1)
    assert better.best_value == REFERENCE[most]


def test_a_single_design_point() -> None:
    rng = np.random.default_rng(3)
    shape = RandomShape(networks=(1, 1), groups=(1, 1), units=(1, 1), points=(1, 1))
    problem = random_problem(rng, shape)
    result = find_fastest(problem)
    assert result.best_value == space_of(problem).best
    assert (result.nodes, result.tree.leaves) == (2, 1), "no choice is left out, even of one unit"


def test_limits_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 10)
    problem = reference_problem(points=False)
    known = REFERENCE[None] + 1
    few = find_fastest(problem, known=known, max_nodes=100)
    assert (few.complete, few.nodes) == (False, 100)
    assert 0 < few.bound <= REFERENCE[None] <= known
    with monkeypatch.context() as small:
        small.setattr(exact_search, "MAX_NODES", 40)
        full = find_fastest(problem, known=known)
        assert (full.complete, full.nodes) == (False, 40)
    late = find_fastest(problem, known=known, until=Deadline.after(0.0))
    assert (late.complete, late.nodes, late.best, late.best_value) == (False, 1, None, known)
    assert 0 < late.bound <= REFERENCE[None]


@pytest.mark.parametrize("most", [2, None])
def test_the_result_does_not_depend_on_the_number_of_threads(
    most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 100)
    monkeypatch.setattr(exact_search, "SHARED_NODES", 300)
    problem = reference_problem(max_transitions=most)
    for nodes in (None, 1234):
        one, three = (find_front(problem, max_nodes=nodes, jobs=jobs) for jobs in (1, 3))
        assert len(one.tree.parts) > 50
        assert tree_bytes(one.tree) == tree_bytes(three.tree)
        assert one.rows.tolist() == three.rows.tolist()
        assert (one.nodes, one.found) == (three.nodes, three.found)
        assert one.open_bounds.tolist() == three.open_bounds.tolist()


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 1000)
    problem = reference_problem(points=False)
    seen: list[SearchProgress] = []
    result = find_fastest(problem, on_progress=seen.append)
    assert [proof.nodes for proof in seen[:-1]] == list(range(1000, result.nodes, 1000))
    epsilons = [proof.epsilon_ppm for proof in seen if proof.epsilon_ppm is not None]
    assert seen[-1].epsilon_ppm == epsilons[-1] == 0
    assert max(epsilons) > 0


@pytest.mark.parametrize("limit", ["power_cap_mw", "energy_budget_fj"])
def test_a_pipeline_under_a_power_limit_is_refused(limit: str) -> None:
    problem = replace(reference_problem(), execution=Pipeline(1), **{limit: 10**6})
    with pytest.raises(ResultError, match="no bound on the power of a pipeline, which a power cap"):
        find_fastest(problem)


def test_a_ladder_beyond_the_bits_of_a_mask_is_refused() -> None:
    problem = random_problem(np.random.default_rng(1), RandomShape(points=(2, 2)))
    long = ProblemDomain(
        name="long",
        frequencies_khz=tuple(range(1, 64)),
        voltages_mv=(None,) * 63,
        may_be_off=True,
        static_mw=np.zeros(63, dtype=np.int64),
        allowed=np.ones(63, dtype=np.bool_),
    )
    with pytest.raises(ResultError, match=r"domain 'long': at most 62 operating points.*got 63"):
        find_fastest(replace(problem, domains=(*problem.domains, long)))
