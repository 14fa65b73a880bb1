"""Fronts of small spaces: all design points are simulated, by the search and by the check."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.certificate.boxes import simulate
from paretosoc.dse.certificate.boxes.simulate import simulate_space
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.fitness.check.boxes.check import CheckedBounds, design_points
from paretosoc.fitness.check.boxes.costs import whole_space
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import MAX_SIMULATED, Leaf, Simulated, Split


def with_rates(**rates):
    """The workload of networks of the catalogue with these rates in Hz."""
    return Workload(
        tuple(WorkloadNetwork(name, name, rate_hz=Fraction(rate)) for name, rate in rates.items())
    )


RATES = with_rates(alexnet=20, resnet18=10)


@pytest.fixture(scope="module")
def explored():
    problem = dse.Problem(RATES, "jetson-orin-nano-8gb", groups=3, fixed={"emc": 3199})
    front = dse.explore(problem, max_evaluations=200)
    return front, dse.certify(front)


def test_networks_with_rates_have_a_complete_front(explored):
    _, front = explored
    assert front.is_complete
    claim = front.numeric.bounds
    assert claim.epsilon_ppm == 0
    assert claim.simulated == 8  # The clocks of the GPU, all that may be chosen.
    assert front.claims[0].startswith(f"complete: no design point is missing from the {len(front)}")
    assert wrong_bounds(front.numeric, claim, front.bounds) is None
    assert wrong_bounds(front.numeric, claim, front.bounds, compiled=True) is None


def test_the_members_are_those_that_no_design_point_beats(explored):
    _, front = explored
    problem = front.problem
    outcomes = [plain_outcome(problem, p) for p in design_points(problem, whole_space(problem))]
    values = {outcome.objectives for outcome in outcomes if not outcome.broken}
    best = {
        one
        for one in values
        if not any(
            other != one and all(a <= b for a, b in zip(other, one, strict=True))
            for other in values
        )
    }
    assert {member.objectives for member in front.numeric.members} == best


def test_members_that_the_search_has_missed_are_added(explored):
    found, front = explored
    few = replace(found.numeric, members=found.numeric.members[:1], bounds=None)
    whole, bounded = simulate_space(few)
    assert [m.objectives for m in whole.members] == [m.objectives for m in front.numeric.members]
    assert bounded.claim.epsilon_ppm == 0


def test_a_front_that_lacks_a_member_is_not_complete(explored):
    _, front = explored
    claim, proof = front.numeric.bounds, front.bounds
    few = replace(front.numeric, members=front.numeric.members[1:])
    lacking = replace(claim, members=tuple(range(len(few.members))))
    assert "epsilon_ppm" in wrong_bounds(few, lacking, proof)
    # A region without it has a design point in it.
    region = tuple(
        tuple(None if value is None else value + 1 for value in corner) for corner in claim.region
    )
    wrong = wrong_bounds(
        front.numeric, replace(claim, region=region), replace(proof, region=region)
    )
    assert wrong.startswith("region[")


def test_the_number_of_design_points_is_claimed(explored):
    _, front = explored
    claim = replace(front.numeric.bounds, simulated=7)
    assert "simulated" in wrong_bounds(front.numeric, claim, front.bounds)


def test_boxes_are_simulated_apart(explored):
    """A divided space has the same design points."""
    _, front = explored
    problem, proof = front.problem, front.bounds
    gpu = next(d for d, domain in enumerate(problem.domains) if domain.name == "gpu")
    divided = replace(proof, tree=(Split(gpu, 0b101), Simulated(), Simulated()))
    checked = CheckedBounds(problem, divided)
    assert checked.simulated == 8
    assert all(map(checked.is_empty, proof.region))
    # Without inequalities nothing is known of a box.
    halves = replace(proof, tree=(Split(gpu, 0b101), Leaf(()), Simulated()))
    with pytest.raises(ResultError, match="paths"):
        CheckedBounds(problem, halves)


def test_a_proof_with_too_many_design_points_is_refused(explored):
    _, front = explored
    large = dse.Problem(RATES, "jetson-agx-xavier", groups=6).numeric
    proof = replace(front.bounds, objectives=front.bounds.objectives)
    with pytest.raises(ResultError, match=f"at most {MAX_SIMULATED} design points"):
        CheckedBounds(large, proof)
    assert simulate_space(replace(front.numeric, problem=large)) is None


def test_domains_that_nothing_needs_are_off(explored):
    _, front = explored
    problem = front.problem
    for design in design_points(problem, whole_space(problem)):
        used = {clock for u in set(design.units.tolist()) for clock in problem.units[u].clocks}
        for d, domain in enumerate(problem.domains):
            if domain.may_be_off and d not in used:
                assert design.operating_points[d] == domain.point_when_off


def test_a_larger_space_is_not_simulated(explored, monkeypatch):
    found, _ = explored
    monkeypatch.setattr(simulate, "MAX_SIMULATED", 7)
    assert simulate_space(found.numeric) is None


@pytest.mark.parametrize("seed", range(4))
def test_random_small_workloads_agree_with_the_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(["alexnet", "resnet18", "googlenet", "squeezenet"], 2, replace=False)
    workload = with_rates(**{str(name): int(rng.choice([5, 10, 20])) for name in names})
    board = str(rng.choice(["jetson-orin-nano-8gb", "jetson-agx-xavier"]))
    # The clocks of GPU and memory are left.
    problem = dse.Problem(workload, board, groups=2, units=["gpu"])
    front = dse.explore(problem, max_evaluations=50)
    proved = dse.certify(front)
    whole = dse.explore(problem, dse.exhaustive())
    assert proved.is_complete
    assert proved.numeric.bounds.simulated > len(front)
    assert [m.objectives for m in proved.numeric.members] == [
        m.objectives for m in whole.numeric.members
    ]
