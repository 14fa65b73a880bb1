"""Monotone objectives of a user's own: their fronts are proved by those of their parts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import paretosoc as dse
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.certificate.certify import Limits
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.dse.certificate.verify.verify import verify
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import epsilon_ppm
from paretosoc.results.front.own_view import check_declarations
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.own_objective import _GIVEN, OwnObjective, remember
from tests.support.problems.random_spaces import (
    random_limited_problem,
    random_power_problem,
    size_of,
    space_of,
)
from tests.support.sample import SAMPLE

MOST_ROWS = 500


@pytest.fixture(autouse=True)
def forgotten():
    yield
    _GIVEN.clear()


def own(name, of, compute, **more):
    objective = OwnObjective(name, of=of, compute=compute, monotone=True, **more)
    remember(objective)
    return Objective(objective)


def random_own(rng, problem, name):
    """A product, a weighted sum, a maximum or a rate, of two or three objectives."""
    parts = ["latency", "energy", *(f"latency:{network.name}" for network in problem.networks)]
    of = rng.choice(parts, int(rng.integers(1, min(4, len(parts) + 1))), replace=False).tolist()
    weights = rng.uniform(0.1, 10, len(of))
    kind = int(rng.integers(4))

    def compute(*figures):
        weighted = [weight * each for weight, each in zip(weights, figures, strict=True)]
        if kind == 0:
            return np.prod(weighted, axis=0)
        if kind == 1:
            return np.sum(weighted, axis=0)
        worst = np.max(weighted, axis=0)
        return worst if kind == 2 else 1000 / (worst + 1)

    decimals = int(rng.choice([0, 3, 9]))
    return own(name, of, compute, decimals=decimals, larger_is_better=kind == 3)


def random_own_problem(rng):
    while True:
        if rng.integers(2):
            problem = random_limited_problem(rng)
        else:
            problem = random_power_problem(rng, ObjectiveKind.LATENCY)
        if 20 <= size_of(problem) <= MOST_ROWS:
            break
    objectives = [random_own(rng, problem, f"own{k}") for k in range(int(rng.integers(1, 3)))]
    standard = [Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)]
    objectives += standard[: int(rng.integers(3))][:: rng.choice([1, -1])]
    return replace(problem, objectives=tuple(objectives))


def plain_front(problem):
    """The front of all design points, by the plain simulator."""
    outcomes = [plain_outcome(problem, problem.design_of(row)) for row in space_of(problem).rows]
    values = [outcome.objectives for outcome in outcomes if not outcome.broken]
    found = np.array(values, dtype=np.int64).reshape(len(values), len(problem.objectives))
    return {*map(tuple, found[non_dominated(found)].tolist())}


def seeded(problem):
    """A front of one feasible design point, or None if there is none."""
    rows = space_of(problem).rows
    feasible = rows[make_outcomes(problem)(rows).feasible]
    if not len(feasible):
        return None
    return seed_front(problem, DesignSpace(problem).canonical(feasible[-1:]), engine="search")


def values_of(front):
    return np.array([member.objectives for member in front.members], dtype=np.int64)


# 67 and 72: the fastest design point is no member.
@pytest.mark.parametrize("number", sorted({*range(25 * SAMPLE), 67, 72}))
def test_the_front_is_that_of_all_design_points(number, tmp_path):
    rng = np.random.default_rng([42, number])
    problem = random_own_problem(rng)
    front = seeded(problem)
    if front is None:
        return
    proof = prove_front(front)
    assert {*map(tuple, values_of(proof.front).tolist())} == plain_front(problem)
    assert proof.front.is_complete
    assert proof.front.certificate.objectives == problem.objective_names
    assert proof.certificate.certificate.objectives == problem.of_parts.objective_names
    folder = tmp_path / "run"
    write_results(folder, proof.front, certificate=proof.certificate, pictures=False)
    checks = list(verify(folder))
    assert all(check.holds for check in checks), checks
    assert "monotone" in [check.name for check in checks]


def edp(**more):
    return own("edp", ("latency", "energy"), lambda ms, mj: ms * mj, **more)


@pytest.fixture(scope="module")
def poor_rows():
    """The reference problem, and rows that have all groups on one unit at the fastest clocks."""
    problem = reference_problem(max_transitions=1)
    space = DesignSpace(problem)
    fastest = [points[-1] for points in space.points]
    rows = np.array([[unit] * space.groups + fastest for unit in (0, 1)])
    return problem, space.canonical(rows)


@pytest.mark.parametrize("nodes", [300, 3_000])
def test_bounds_of_the_parts_bound_the_front(poor_rows, nodes, tmp_path):
    problem, rows = poor_rows
    problem = replace(problem, objectives=(Objective(ObjectiveKind.LATENCY), edp()))
    front = seed_front(problem, rows, engine="search")
    exact = values_of(prove_front(front).front)
    proof = prove_front(front, limits=Limits(nodes=nodes))
    claim = proof.front.bounds or proof.front.epsilon
    assert claim.objectives == problem.objective_names
    assert claim.epsilon_ppm >= epsilon_ppm(values_of(proof.front), exact) > 0
    if proof.front.bounds is not None:
        for corner in claim.region:
            inside = [exact[:, k] <= most for k, most in enumerate(corner) if most is not None]
            assert not np.all(inside, axis=0).any()
        assert wrong_bounds(proof.front, claim, proof.bounds) is None
        less = replace(claim, epsilon_ppm=claim.epsilon_ppm - 1)
        assert "does not follow" in wrong_bounds(proof.front, less, proof.bounds)
        wider = replace(claim, region=(*claim.region, exact[0]))
        assert wrong_bounds(proof.front, wider, proof.bounds).startswith("region")
    folder = tmp_path / "run"
    write_results(
        folder,
        proof.front,
        certificate=proof.certificate,
        epsilon=proof.epsilon,
        bounds=proof.bounds,
        pictures=False,
    )
    checks = list(verify(folder))
    assert all(check.holds for check in checks), checks


def test_the_fastest_member_is_proved_as_before(poor_rows):
    problem, rows = poor_rows
    problem = replace(problem, objectives=(Objective(ObjectiveKind.LATENCY), edp()))
    front = seed_front(problem, rows, engine="search")
    claim = prove_front(front, goal=Goal.FASTEST).front.certificate
    assert claim.objectives == ("latency_ps",)
    assert claim.epsilon_ppm == 0
    alone = replace(problem, objectives=problem.objectives[1:])
    with pytest.raises(ResultError, match="no member can be certified as the fastest"):
        prove_front(seed_front(alone, rows, engine="search"), goal=Goal.FASTEST)


def test_a_gap_is_written_and_begun_again(poor_rows):
    problem, rows = poor_rows
    problem = replace(problem, objectives=(edp(), Objective(ObjectiveKind.ENERGY)))
    front = seed_front(problem, rows, engine="search")
    proof = prove_front(front, limits=Limits(nodes=300))
    again = prove_front(proof.front, earlier=proof.certificate)
    assert again.front.is_complete
    assert {*map(tuple, values_of(again.front).tolist())} == {
        *map(tuple, values_of(prove_front(front).front).tolist())
    }


LIES = [
    lambda ms, mj: np.abs(ms - 20) + 0 * mj,
    lambda ms, mj: ms - mj,
    lambda ms, mj: np.where(ms * mj > 900, 0, ms * mj),
]


@pytest.mark.parametrize("lie", LIES)
def test_a_function_that_does_not_keep_to_its_declaration_is_refused(poor_rows, lie):
    problem, rows = poor_rows
    false = own("false", ("latency", "energy"), lie)
    problem = replace(problem, objectives=(Objective(ObjectiveKind.LATENCY), false))
    front = seed_front(problem, rows, engine="search")
    with pytest.raises(
        ResultError, match="'false': is declared monotone, but becomes better, from"
    ):
        prove_front(front)


@pytest.fixture
def folder(poor_rows, tmp_path):
    problem, rows = poor_rows
    problem = replace(problem, objectives=(Objective(ObjectiveKind.LATENCY), edp()))
    proof = prove_front(seed_front(problem, rows, engine="search"))
    write_results(tmp_path / "run", proof.front, certificate=proof.certificate, pictures=False)
    return tmp_path / "run"


def failed(folder, **options):
    return next(check for check in verify(folder, **options) if not check.holds)


def test_a_function_that_does_not_keep_to_it_is_found_by_verify(folder):
    assert all(check.holds for check in verify(folder))
    members = dse.load(folder)
    known = {(m.latency_ms, m.energy_mj) for m in members}

    def lies_beside_members(ms, mj):
        pairs = zip(np.atleast_1d(ms).tolist(), np.atleast_1d(mj).tolist(), strict=True)
        return np.array([a * b if (a, b) in known else 0.0 for a, b in pairs])

    edp_again = OwnObjective(
        "edp", of=("latency", "energy"), compute=lies_beside_members, monotone=True
    )
    remember(edp_again)
    check = failed(folder)
    assert check.name == "monotone"
    assert "objective 'edp': is declared monotone, but becomes better, from" in check.detail
    assert "\n" not in check.detail


def test_what_is_no_longer_declared_is_not_proved(folder):
    remember(OwnObjective("edp", of=("latency", "energy"), compute=lambda ms, mj: ms * mj))
    assert "problem_sha256" in failed(folder).detail
    assert failed(folder, ignore_hashes=True).name == "hashes"
    checks = list(verify(folder, ignore_hashes=True))
    assert checks[-1].name == "claim"
    assert "are not the problem's" in checks[-1].detail


def changed(folder, name, change):
    path = folder / name
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    return list(verify(folder, ignore_hashes=True))[-1]


def test_a_member_that_is_missing_is_found(folder):
    def drop(document):
        del document["members"][3]
        document["certificate"]["members"].pop()

    check = changed(folder, "front.json", drop)
    assert (check.name, check.detail) == (
        "claim",
        "certificate.json: epsilon_ppm: front.json says something else",
    )


def test_a_point_of_the_parts_that_is_missing_is_found(folder):
    def drop(document):
        del document["members"][3]

    assert changed(folder, "certificate.json", drop).name == "tree"


def test_a_point_of_the_parts_that_no_member_reaches_is_found(folder):
    def lower(document):
        document["members"][3] = [value // 2 for value in document["members"][3]]

    assert changed(folder, "certificate.json", lower).name == "claim"


def test_undeclared_objectives_are_not_proved(poor_rows):
    problem, rows = poor_rows
    product = OwnObjective("edp", of=("latency", "energy"), compute=lambda ms, mj: ms * mj)
    problem = replace(problem, objectives=(Objective(product), Objective(ObjectiveKind.ENERGY)))
    with pytest.raises(ResultError, match=r"no bound on the objective edp of .*not declared mono"):
        prove_front(seed_front(problem, rows, engine="search"))


def test_parts_without_bounds_are_named(poor_rows):
    problem, rows = poor_rows
    slow = own("slow", ("stretch", "latency"), lambda share, ms: share + ms)
    problem = replace(problem, objectives=(slow,))
    with pytest.raises(ResultError, match="no bound on the objective stretch of"):
        prove_front(seed_front(problem, rows, engine="search"))


def test_every_objective_of_its_own_is_checked():
    problem = reference_problem(max_transitions=1)
    twice = own("twice", ("latency",), lambda ms: 2 * ms)
    problem = replace(problem, objectives=(twice, edp()))
    check_declarations(problem, np.array([[1, 5], [2, 3]]))
    false = own("false", ("energy",), lambda mj: -mj)
    problem = replace(problem, objectives=(twice, false))
    check_declarations(problem, np.array([[1, 5], [2, 5]]))
    with pytest.raises(ResultError, match="'false'"):
        check_declarations(problem, np.array([[10**9, 5 * 10**12], [2 * 10**9, 3 * 10**12]]))


def test_the_exact_search_is_an_engine_for_them():
    objective = OwnObjective(
        "edp", of=("latency", "energy"), compute=lambda ms, mj: ms * mj, monotone=True
    )
    problem = dse.Problem(
        "alexnet", "jetson-agx-xavier", groups=3, units=["gpu", "dla0"], objectives=[objective]
    )
    front = dse.certify(dse.explore(problem, "exact"))
    assert len(front) == 1
    assert front.is_complete


def test_a_search_ends_with_the_proof():
    product = OwnObjective("edp", ("latency", "energy"), np.multiply, monotone=True)
    problem = dse.Problem(
        ["squeezenet", "alexnet"],
        "jetson-agx-xavier",
        groups=3,
        units=["gpu", "dla0"],
        objectives=["latency", product],
    )
    front = dse.explore(problem, "auto", max_evaluations=20_000)
    assert front.numeric.provenance.stopped_by == "exhausted"
    assert len(dse.certify(front)) == len(front)
