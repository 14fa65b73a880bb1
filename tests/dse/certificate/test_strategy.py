"""The proof that goes with a front: what is claimed within which limits."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from dse.certificate import strategy
from dse.certificate.certify import Limits
from dse.certificate.preconditions import Goal
from dse.certificate.seed_front import seed_front
from dse.certificate.strategy import prove_front
from dse.space.design_space import DesignSpace
from results.front.certificate import CertificateStatus
from results.front.dominance import non_dominated


@pytest.fixture(scope="module")
def front():
    """A poor front of the reference problem: each unit alone."""
    space = DesignSpace(reference_problem(max_transitions=1))
    row = np.array([0] * space.groups + [points[-1] for points in space.points])
    return seed_front(space.problem, space.canonical(row[None]), engine="search")


def values(front):
    return np.array([member.objectives for member in front.members])


def test_a_small_problem_is_complete_whatever_front_it_begins_with(front):
    proof = prove_front(front)
    claim = proof.front.certificate
    assert claim.status is CertificateStatus.CERTIFIED
    assert claim.epsilon_ppm == 0
    assert len(claim.members) == len(proof.front.members) == 35
    assert proof.front.epsilon is None
    assert proof.epsilon is None
    assert proof.refused is None
    assert not proof.interrupted


def test_only_the_fastest_is_proved_where_only_that_is_the_goal(front):
    proof = prove_front(front, goal=Goal.FASTEST)
    assert proof.front.certificate.objectives == ("latency_ps",)
    assert proof.front.certificate.status is CertificateStatus.CERTIFIED
    assert proof.epsilon is None


def test_without_an_epsilon_the_reason_is_given(front, monkeypatch):
    monkeypatch.setattr(strategy, "bound_front", lambda *_, **__: None)
    proof = prove_front(front, limits=Limits(nodes=300))
    assert proof.front.bounds is None
    assert proof.refused == (
        "the search was ended, and so were bounds over boxes, before they reached a percentage"
    )


def test_few_nodes_leave_bounds_that_no_member_of_the_exact_front_exceeds(front):
    exact = values(prove_front(front).front)
    proof = prove_front(front, limits=Limits(nodes=300))
    again = prove_front(front, limits=Limits(nodes=300))
    assert np.array_equal(values(proof.front), values(again.front)), "nodes, not seconds"
    bounds = proof.front.bounds
    assert replace(bounds, seconds=0.0) == replace(again.front.bounds, seconds=0.0)
    assert proof.front.epsilon is None, "nothing on the search's own account"
    assert proof.front.certificate.epsilon_ppm is None
    assert bounds.epsilon_ppm > 0
    factor = 1.0 + bounds.epsilon_ppm / 1e6
    for point in exact:
        assert (values(proof.front) <= point * factor + 1).all(axis=1).any()


def test_no_time_leaves_a_front_and_no_false_claim(front):
    proof = prove_front(front, limits=Limits(nodes=1, seconds=0.001))
    assert len(non_dominated(values(proof.front))) == len(proof.front.members)
    for claim in (proof.front.certificate, proof.front.epsilon):
        assert claim is None or claim.status is CertificateStatus.GAP
