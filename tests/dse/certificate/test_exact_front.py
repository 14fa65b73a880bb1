"""Branch and bound with several objectives against enumeration: fronts, trees, epsilons."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PPM
from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.branch_and_bound import ExactResult, Incumbents, find_front
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.execution import ExecutionModel, OneFrame, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import (
    NOTHING,
    Space,
    random_limited_problem,
    random_power_problem,
    space_of,
)
from tests.support.proofs.lemmas import faults, leaves_of
from tests.support.sample import SAMPLE

CHUNKS, CHUNK = 4 * SAMPLE, 30
KINDS = (ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY, ObjectiveKind.ENERGY)


def with_objectives(problem: Problem, rng: np.random.Generator) -> Problem:
    """One to four objectives; makespan and energy more often than others."""
    if rng.integers(3) == 0:
        pair = [Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)]
        return replace(problem, objectives=tuple(pair[:: rng.choice([1, -1])]))
    pool = [Objective(kind) for kind in KINDS]
    pool += [Objective(ObjectiveKind.LATENCY, n) for n in range(len(problem.networks))]
    networks = problem.networks
    later = [n for n, network in enumerate(networks) if network.waits_for] or range(len(networks))
    tokens = (ObjectiveKind.TOKEN_RATE, ObjectiveKind.TOKEN_ENERGY)
    pool += [Objective(kind, int(rng.choice(later))) for kind in tokens]
    if problem.execution.period_ps is not None:
        pool.append(Objective(ObjectiveKind.POWER))
    count = min(int(rng.integers(1, 5)), len(pool))
    chosen = rng.choice(len(pool), count, replace=False).tolist()
    return replace(problem, objectives=tuple(pool[i] for i in chosen))


def problems(chunk: int) -> list[Problem]:
    rng = np.random.default_rng([11, chunk])
    drawn = []
    for number in range(CHUNK):
        if number % 2:
            kind = KINDS[int(rng.integers(2))]
            problem = random_power_problem(rng, kind)
        else:
            problem = random_limited_problem(rng)
        drawn.append(with_objectives(problem, rng))
    return drawn


def vectors_of(problem: Problem, space: Space) -> IntArray:
    """[cells, objectives], ``NOTHING`` where it is not feasible."""
    outcomes = make_outcomes(problem)(space.rows)
    return np.where(outcomes.feasible[:, None], outcomes.objectives, NOTHING)


def front_of(vectors: IntArray) -> IntArray:
    feasible = vectors[vectors[:, 0] < NOTHING]
    return feasible[non_dominated(feasible)]


def as_set(vectors: IntArray) -> set[tuple[int, ...]]:
    return {tuple(row) for row in vectors.tolist()}


def within(vectors: IntArray, members: IntArray, ppm: int) -> bool:
    """Whether for every feasible vector there is a member that is above by no more, exactly."""
    for row in {tuple(v) for v in vectors.tolist() if v[0] < NOTHING}:
        if not any(
            all(
                m * PPM <= v * (PPM + ppm) if m >= 0 else -v * PPM <= -m * (PPM + ppm)
                for m, v in zip(member, row, strict=True)
            )
            for member in members.tolist()
        ):
            return False
    return True


def require_lemmas(
    problem: Problem, space: Space, vectors: IntArray, result: ExactResult, ppm: int = 0
) -> None:
    """Each by enumeration and by the plain checker, and that they leave nothing out."""
    claim = LemmaTarget(
        tuple(range(len(problem.objectives))),
        tuple(tuple(row) for row in result.objectives.tolist()),
        ppm,
        result.prices,
    )
    assert faults(problem, result.tree, claim) == (None, None)
    lemmas = leaves_of(problem, result.tree)
    assert len(lemmas) == result.tree.leaves
    shaped = vectors.reshape(*space.obeys_mapping_rules.shape, -1)
    covered = np.zeros_like(space.obeys_mapping_rules)
    for index in range(len(lemmas)):
        cells = space.cells(lemmas, index)
        inside = shaped[cells].reshape(-1, vectors.shape[1])
        assert within(inside, result.objectives, ppm), f"lemma {index}"
        covered[cells] = True
    assert covered[space.obeys_mapping_rules].all()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_front_and_lemmas_against_enumeration(chunk: int) -> None:
    for number, problem in enumerate(problems(chunk)):
        space = space_of(problem)
        vectors = vectors_of(problem, space)
        front = front_of(vectors)
        result = find_front(problem)
        assert result.complete
        assert result.epsilon_ppm == (0 if len(front) else None)
        assert len(result.objectives) == len(front), f"problem {number}"
        assert as_set(result.objectives) == as_set(front), f"problem {number}"
        found = make_outcomes(problem)(result.rows)
        assert found.feasible.all()
        assert (found.objectives == result.objectives).all()
        again = find_front(problem, known=Incumbents(result.objectives, result.rows))
        assert again.complete
        assert again.found == 0
        assert again.nodes <= result.nodes
        assert as_set(again.objectives) == as_set(front)
        if len(space.rows) < 3000:
            require_lemmas(problem, space, vectors, again)


def test_the_sample_is_varied() -> None:
    seen: Counter[str] = Counter()
    for chunk in range(CHUNKS):
        for problem in problems(chunk):
            kinds = [o.kind for o in problem.objectives]
            seen[f"{len(kinds)} objectives"] += 1
            seen["pair"] += set(kinds) == {KINDS[0], KINDS[2]} and len(kinds) == 2
            seen["energy"] += ObjectiveKind.ENERGY in kinds
            seen["power"] += ObjectiveKind.POWER in kinds
            seen["one network"] += any(o.network is not None for o in problem.objectives)
            for objective in problem.objectives:
                if objective.kind.spec.needs_network and objective.network is not None:
                    waits = problem.networks[objective.network].waits_for
                    seen[f"{objective.kind.value}, {'waits' if waits else 'alone'}"] += 1
            seen["rates"] += ObjectiveKind.INVERSE_LATENCY in kinds
            seen["cap"] += problem.power_cap_mw is not None
            seen["budget"] += problem.energy_budget_fj is not None
            seen["periodic"] += problem.execution.period_ps is not None
            seen["priorities"] += problem.has_priorities
            seen["repeats"] += any(n.repeats > 1 for n in problem.networks)
            seen["transitions"] += any(n.max_transitions is not None for n in problem.networks)
            seen["segments"] += any(u.max_segments is not None for u in problem.units)
            incoming = Counter(target for _, target in problem.edges)
            seen["graph"] += max(incoming.values(), default=0) > 1
    assert min(seen.values()) >= 3, seen
    assert len(seen) == 21, seen


@pytest.mark.parametrize("ppm", [5_000, 100_000])
def test_a_tolerance_is_kept(ppm: int) -> None:
    fewer = 0
    for problem in problems(CHUNKS):
        space = space_of(problem)
        vectors = vectors_of(problem, space)
        exact, near = find_front(problem), find_front(problem, tolerance_ppm=ppm)
        assert near.complete
        assert near.epsilon_ppm == (ppm if len(exact.objectives) else None)
        assert near.nodes <= exact.nodes
        assert within(vectors, near.objectives, ppm)
        fewer += near.nodes < exact.nodes
        if len(space.rows) < 2000:
            require_lemmas(problem, space, vectors, near, ppm)
    assert fewer > 5


def test_the_epsilon_of_an_ended_search_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 7)
    bounded = below_one = 0
    for problem in problems(CHUNKS + 1)[:12]:
        space = space_of(problem)
        if len(space.rows) > 5000:
            continue
        vectors = vectors_of(problem, space)
        part = find_front(problem, max_nodes=7)
        for _ in range(40):
            if part.complete:
                break
            if part.epsilon_ppm is not None:
                assert within(vectors, part.objectives, part.epsilon_ppm)
                bounded += 1
                below_one += part.epsilon_ppm < PPM
            part = find_front(
                problem,
                max_nodes=7,
                known=Incumbents(part.objectives, part.rows),
                resume_from=part.root,
            )
        if part.complete:
            assert as_set(part.objectives) == as_set(front_of(vectors))
    assert bounded > 20
    assert below_one > 8


@pytest.mark.parametrize(("most", "members"), [(1, 35), (2, 60), (None, 73)])
def test_reference_problem(most: int | None, members: int) -> None:
    problem = reference_problem(max_transitions=most)
    result = find_front(problem)
    assert result.complete
    assert len(result.objectives) == members
    found = make_outcomes(problem)(result.rows)
    assert found.feasible.all()
    assert (found.objectives == result.objectives).all()
    again = find_front(problem, known=Incumbents(result.objectives))
    assert again.complete
    assert again.found == 0
    assert (again.rows == -1).all()


@pytest.mark.parametrize(
    ("kind", "execution"),
    [
        (ObjectiveKind.THROUGHPUT, Pipeline(1)),
        (ObjectiveKind.ENERGY, Pipeline(1)),
        (ObjectiveKind.POWER, OneFrame()),
        (ObjectiveKind.STRETCH, OneFrame()),
    ],
)
def test_objectives_without_bounds_are_refused(
    kind: ObjectiveKind, execution: ExecutionModel
) -> None:
    objectives = (Objective(ObjectiveKind.LATENCY), Objective(kind))
    problem = replace(reference_problem(points=False), objectives=objectives, execution=execution)
    with pytest.raises(ResultError, match="the exact search has no bound"):
        find_front(problem)
    assert find_front(problem, objectives=(0,)).complete
