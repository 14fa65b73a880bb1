"""Bounds over boxes on late responses: none of a network's is in time where its path is longer."""

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.certificate.boxes.prove import bound_front
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems import small_problems


def front_of(deadline, *rows, most=None):
    """Releases at 0 and 50 of a period of 100 take 12 on one unit and 20 on the other."""
    network = replace(
        small_problems.network("fast", 0, 1, repeats=2),
        paced=True,
        deadline_ps=deadline,
        max_misses=most,
    )
    problem = replace(
        small_problems.problem([network], [[12, 20]]),
        execution=Rates(100),
        objectives=(Objective(ObjectiveKind.MISSES), Objective(ObjectiveKind.RESPONSE)),
    )
    return seed_front(problem, np.array(rows), engine="test")


@pytest.mark.parametrize(("deadline", "misses"), [(11, 2), (12, 0)])
def test_what_must_be_late_is_proved(deadline, misses):
    front = front_of(deadline, [0, 0], most=2)
    assert [member.objectives for member in front.members] == [(misses, 12)]
    bounded = bound_front(front, range(2))
    assert bounded.claim.epsilon_ppm <= 20
    assert wrong_bounds(front, bounded.claim, bounded.proof) is None


def test_nothing_is_claimed_of_a_front_that_is_late_where_it_need_not_be():
    """For none late no member is within any share of it."""
    front = front_of(15, [1, 0], most=2)
    assert [member.objectives for member in front.members] == [(2, 20)]
    assert bound_front(front, range(2)) is None


def test_a_limit_on_misses_is_a_limit_on_the_path():
    """At most one of two may be late, so one must be in time: it takes 12 at least."""
    front = front_of(11, [0, 0], most=1)
    bounded = bound_front(front, [1])
    # No design point is feasible, so the region may be as large as one likes.
    assert bounded.claim.epsilon_ppm <= 20
    assert any(corner[0] is None or corner[0] > 12 for corner in bounded.proof.region)
