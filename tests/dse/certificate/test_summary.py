"""What is proved, said so that it means something."""

from dataclasses import replace

import pytest

from paretosoc.dse.certificate.summary import describe_claim, describe_claims
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.front import BoundSummary, CertificateSummary
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

NAMES = ("latency_ps", "energy_fj")
WHOLE = CertificateSummary(
    status=CertificateStatus.CERTIFIED,
    objectives=NAMES,
    members=(0,),
    epsilon_ppm=0,
    space="here",
    lemmas=1,
    nodes=2000,
    solvers=(),
    seconds=1.5,
)


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        (0, "complete: no design point is missing from the 1 member; "),
        (25_000, "within 2.50 %: for every design point a member is worse in no objective by more"),
    ],
)
def test_an_epsilon_says_what_it_means(pair_folder, epsilon, said):
    problem = read_results(pair_folder).problem
    words = describe_claim(problem, replace(WHOLE, epsilon_ppm=epsilon), (1, 1))
    assert said in words
    assert "1 lemma, 2,000 nodes, 1.50 s" in words


def test_the_space_is_said_once(pair_folder):
    front = read_results(pair_folder)
    fastest = replace(WHOLE, objectives=NAMES[:1], epsilon_ppm=0)
    sentences = describe_claims(replace(front, certificate=fastest, epsilon=WHOLE))
    assert len(sentences) == 3
    assert " ".join(sentences).count("here") == 1
    other = replace(WHOLE, space="there")
    assert len(describe_claims(replace(front, certificate=fastest, epsilon=other))) == 4
    assert describe_claims(replace(front, certificate=None, epsilon=None)) == []


def test_what_was_not_finished_claims_nothing_and_bounds_say_how_far_it_is(pair_folder):
    front = read_results(pair_folder)
    gap = replace(WHOLE, status=CertificateStatus.GAP, objectives=NAMES[:1], epsilon_ppm=None)
    bounds = BoundSummary(
        objectives=NAMES,
        members=(0,),
        epsilon_ppm=257_300,
        region=((1_999_999_999, None), (None, 2_999_999_999_999), (5, 5)),
        space="here",
        boxes=44,
        inequalities=164,
        seconds=6.25,
    )
    first, second, last = describe_claims(replace(front, certificate=gap, bounds=bounds))
    assert first.startswith("gap: the search for a design point that is faster than member 0 ")
    assert "%" not in first
    assert second.startswith(
        "within 25.73 %, a weak bound: for every design point a member is worse in no "
    )
    assert "no latency is below 2.000000 ms, no energy is below 3.000 mJ" in second
    assert "164 inequalities over 44 boxes, 6.25 s" in second
    assert last.endswith("here.")


def test_a_least_value_is_rounded_to_the_side_on_which_it_is_proved(pair_folder):
    front = read_results(pair_folder)
    bounds = BoundSummary(
        objectives=NAMES,
        members=(0,),
        epsilon_ppm=257_300,
        region=((1_999_999_999 - 500, None), (None, 2_999_999_999_999 - 10**9)),
        space="here",
        boxes=1,
        inequalities=1,
        seconds=6.25,
    )
    words = describe_claims(replace(front, certificate=None, bounds=bounds))[0]
    # 1.9999995 ms and 2.999 mJ; nothing proves that no latency is below 2.000000 ms.
    assert "no latency is below 1.999999 ms, no energy is below 2.999 mJ" in words
    assert "; ;" not in describe_claims(replace(front, bounds=replace(bounds, region=((5, 5),))))[0]


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (ObjectiveKind.LATENCY, 2_000_001_000, 2.000001),
        (ObjectiveKind.LATENCY, 1_999_999_999, 1.999999),
        (ObjectiveKind.INVERSE_LATENCY, -1_000_000_000_001, 1_000_000.000001),
        (ObjectiveKind.INVERSE_LATENCY, -(10**12), 1_000_000.0),
        (ObjectiveKind.ENERGY, 10**12 - 1, 0.999999),
    ],
)
def test_what_a_bound_is_rounded_to(kind, value, said):
    assert Objective(kind).bound(value, 6) == said
