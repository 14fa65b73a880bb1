"""The proof that goes with a front: what is claimed within which limits."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.certificate import certify, strategy
from paretosoc.dse.certificate.boxes.search import BoxSearch
from paretosoc.dse.certificate.certify import Limits, prove
from paretosoc.dse.certificate.improve import find_fastest, seed_front
from paretosoc.dse.certificate.preconditions import Goal, provable
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.certificate.subtree_search import Threads
from paretosoc.dse.certificate.verify.solvers import target_of
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.fitness.check.boxes.inequality import Structure
from paretosoc.fitness.check.tree import check_tree
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.named_members import is_fastest_certified


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


def test_the_fastest_member_is_within_a_tolerance_if_its_exact_search_was_ended():
    space = DesignSpace(reference_problem())
    row = np.array([0] * space.groups + [points[-1] for points in space.points])
    poor = seed_front(space.problem, space.canonical(row[None]), engine="search")
    optimum = find_fastest(space.problem).best_value
    proof = prove_front(poor, limits=Limits(nodes=10_000))
    claim = proof.front.certificate
    assert claim.objectives == ("latency_ps",)
    assert claim.status is CertificateStatus.CERTIFIED
    assert claim.epsilon_ppm == 50_000
    (fastest,) = [proof.front.members[index].makespan_ps for index in claim.members]
    assert optimum < fastest <= 1.05 * optimum
    tree, target = proof.certificate.tree, target_of(space.problem, proof.certificate.certificate)
    assert check_tree(space.problem, tree, target).fault is None
    nearer = replace(target, tolerance_ppm=int(1e6 * (fastest / optimum - 1)) - 1)
    assert check_tree(space.problem, tree, nearer).fault is not None
    assert not is_fastest_certified(proof.front)


def test_without_an_epsilon_the_reason_is_given(front, monkeypatch):
    monkeypatch.setattr(strategy, "bound_front", lambda *_, **__: None)
    proof = prove_front(front, limits=Limits(nodes=300))
    assert proof.front.bounds is None
    assert proof.refused == (
        "the search was ended, and bounds over boxes were ended before they reached a percentage"
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
    proof = prove_front(front, limits=Limits(nodes=1, until=Deadline.after(0.001)))
    assert len(non_dominated(values(proof.front))) == len(proof.front.members)
    for claim in (proof.front.certificate, proof.front.epsilon):
        assert claim is None or claim.status is CertificateStatus.GAP


def test_nothing_is_bounded_after_a_complete_proof(front, monkeypatch):
    problem = replace(front.problem, objectives=front.problem.objectives[:1])
    rows = np.stack([member.design.row for member in front.members])
    alone = seed_front(problem, rows, engine="search")

    def no_bounds(*_, **__):
        raise AssertionError("bounds are computed and dropped")

    monkeypatch.setattr(strategy, "bound_front", no_bounds)
    assert prove_front(alone).front.is_complete


class Clock:
    """Goes on by what is counted of the work, in seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def counts(self, monkeypatch, owner, name, seconds):
        """Each call of a method takes so long; a function of its arguments, or a number."""
        counted = getattr(owner, name)

        def call(*arguments, **named):
            result = counted(*arguments, **named)
            self.now += seconds(*arguments) if callable(seconds) else seconds
            return result

        monkeypatch.setattr(owner, name, call)


@pytest.mark.parametrize("limit", [3.0, 12.0])
def test_searches_bounds_and_checks_keep_one_deadline(front, monkeypatch, limit):
    clock = Clock()
    clock.counts(
        monkeypatch, Threads, "search", lambda _, workers, nodes: len(workers) * nodes / 1e3
    )
    clock.counts(monkeypatch, BoxSearch, "_add_line", 0.1)
    clock.counts(monkeypatch, Structure, "inequality", 0.05)
    clock.counts(monkeypatch, CheckedBounds, "is_empty", 0.01)
    proof = prove_front(front, limits=Limits(until=Deadline.after(limit, clock)), jobs=1)
    assert 0.5 * limit < clock.now < limit + 2.0
    assert not proof.front.is_complete


def test_the_check_of_a_complete_search_may_use_the_time_of_later_proofs(front, monkeypatch):
    clock = Clock()
    clock.counts(monkeypatch, certify, "find_front", 20.0)
    until, planned = (Deadline.after(seconds, clock) for seconds in (100.0, 10.0))
    proved = prove(front, (0, 1), limits=Limits(until=until, planned=planned), jobs=1)
    assert proved.status is CertificateStatus.CERTIFIED
    clock.now = 0.0
    ended = prove(front, (0, 1), limits=Limits(until=planned), jobs=1)
    assert ended.status is CertificateStatus.GAP


@pytest.mark.parametrize(("seconds", "second"), [(100.0, 0), (40.0, 20_000)])
def test_an_exact_search_follows_a_tolerance_only_with_time_for_it(front, seconds, second):
    clock, tried = Clock(), []

    def search(front, columns, *, tolerance_ppm, **_):
        clock.now += 10.0
        tried.append(tolerance_ppm)
        claim = SimpleNamespace(epsilon_ppm=tolerance_ppm, nodes=20_000)
        is_kept = tolerance_ppm > 20_000
        status = CertificateStatus.CERTIFIED if is_kept else CertificateStatus.GAP
        return SimpleNamespace(front=front, claim=claim, status=status, is_exact=False)

    limits = Limits(until=Deadline.after(seconds, clock))
    strategy._Work(front, limits, search, None, lambda: False).narrow((0, 1))
    assert tried[:3] == [100_000, 50_000, second]


def scripted(clock, tried, seconds_and_nodes):
    """A search that tells its objectives and tolerance, and takes so long and so many nodes."""

    def search(front, columns, *, tolerance_ppm, **_):
        tried.append((columns, tolerance_ppm))
        seconds, nodes = seconds_and_nodes(columns, tolerance_ppm)
        clock.now += seconds
        claim = SimpleNamespace(epsilon_ppm=tolerance_ppm, nodes=nodes)
        status = CertificateStatus.CERTIFIED if nodes else CertificateStatus.GAP
        is_exact = bool(nodes) and tolerance_ppm == 0
        return SimpleNamespace(front=front, claim=claim, status=status, is_exact=is_exact)

    return search


@pytest.mark.parametrize(("seconds", "is_tried"), [(100.0, False), (2_000.0, True)])
def test_a_tolerance_that_would_take_far_too_long_is_not_tried(front, seconds, is_tried):
    clock, tried = Clock(), []
    nodes = {100_000: 10_000, 50_000: 1_000_000}
    search = scripted(clock, tried, lambda _, ppm: (10.0, nodes.get(ppm, 0)))
    limits = Limits(until=Deadline.after(seconds, clock))
    strategy._Work(front, limits, search, None, lambda: False).narrow((0, 1))
    assert (((0, 1), 20_000) in tried) == is_tried
    assert tried[:2] == [((0, 1), 100_000), ((0, 1), 50_000)]


def test_the_fastest_member_is_narrowed_further_after_the_whole_front(front, monkeypatch):
    clock, tried = Clock(), []
    search = scripted(
        clock,
        tried,
        lambda columns, ppm: (1.0, 100 if ppm >= (50_000 if len(columns) > 1 else 30_000) else 0),
    )
    monkeypatch.setattr(strategy, "prove", search)
    monkeypatch.setattr(strategy._Work, "result", lambda work, *_: work)
    work = strategy._proved(
        front,
        can=provable(front.problem, Goal.WHOLE_FRONT),
        limits=Limits(until=Deadline.after(1_000.0, clock)),
        earlier=None,
        jobs=1,
        cluster=None,
        on_progress=None,
        on_checkpoint=None,
    )
    fastest, whole = (0,), (0, 1)
    assert tried == [
        (whole, 0),
        (fastest, 0),
        (fastest, 100_000),
        (fastest, 50_000),
        (whole, 100_000),
        (whole, 50_000),
        (whole, 20_000),
        (fastest, 30_000),
        (fastest, 20_000),
    ]
    assert work.fastest.claim.epsilon_ppm == 30_000


def test_a_failed_exact_search_makes_no_tolerance_hopeless(front):
    """The time that it took is not that of the tolerance before it."""
    clock, tried = Clock(), []
    took = {100_000: (1.0, 20_000), 50_000: (3.0, 60_000), 0: (72.0, 0), 20_000: (9.0, 180_000)}
    search = scripted(clock, tried, lambda _, ppm: took.get(ppm, (100.0, 0)))
    limits = Limits(until=Deadline.after(100.0, clock))
    strategy._Work(front, limits, search, None, lambda: False).narrow((0, 1))
    assert [ppm for _, ppm in tried[:4]] == [100_000, 50_000, 0, 20_000]


@pytest.mark.parametrize(("until", "again"), [(NEVER, 0), (1_000.0, 1)])
def test_a_search_for_the_fastest_that_was_ended_is_repeated_only_with_more_time(
    front, until, again
):
    clock, tried = Clock(), []
    search = scripted(clock, tried, lambda _, ppm: (1.0, 0))
    limits = Limits(until=NEVER if until is NEVER else Deadline.after(until, clock))
    work = strategy._Work(front, limits, search, None, lambda: False)
    work.prove_fastest(0, until=limits.until, earlier=None)
    work.narrow_fastest(0, until=limits.until, least_ppm=50_000)
    before = len(tried)
    work.narrow_fastest(0, until=limits.until)
    assert len(tried) - before == again
