"""HaX-CoNN's sample: its figures, and all 2**18 mappings."""

import numpy as np
import pytest

from benchmarks.problems.hax_sample import KNOWN_BEST_MAKESPAN_PS, hax_sample
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.problem.problem_check import check_problem

GROUPS = 18
SPLIT = 10


@pytest.fixture(scope="module")
def mappings():
    """All rows, and the transitions of the network with more of them."""
    number = np.arange(1 << GROUPS, dtype=np.int64)
    rows = np.zeros((len(number), GROUPS + 2), dtype=np.int64)
    rows[:, :GROUPS] = number[:, None] >> np.arange(GROUPS) & 1
    parts = rows[:, :SPLIT], rows[:, SPLIT:GROUPS]
    return rows, np.maximum(*((np.diff(part, axis=1) != 0).sum(axis=1) for part in parts))


@pytest.mark.parametrize("contention", [False, True])
def test_best_makespan(mappings, contention):
    rows, transitions = mappings
    problem = hax_sample(contention=contention)
    check_problem(problem)
    makespan = make_evaluator(problem)(rows).makespan_ps
    for limit in (1, 2, None):
        allowed = np.flatnonzero(transitions <= (GROUPS if limit is None else limit))
        winner = allowed[makespan[allowed].argmin()]
        best = int(makespan[winner])
        assert best == KNOWN_BEST_MAKESPAN_PS[contention, limit]
        assert plain_timeline.simulate(problem, problem.design_of(rows[winner])).frame_end_ps == (
            best,
        )


def test_one_unit_alone_takes_the_sum():
    """All on the GPU: 1.72 + 1.79 ms, by hand; one transition after a group costs its column."""
    problem = hax_sample()
    row = np.zeros(GROUPS + 2, dtype=np.int64)
    assert plain_timeline.simulate(problem, problem.design_of(row)).frame_end_ps == (3_510_000_000,)
    assert problem.transition_ps[0].tolist() == [[0, 50_000_000], [80_000_000, 0]]
    assert problem.transition_ps[9].tolist() == [[0, 30_000_000], [70_000_000, 0]]
    assert problem.edges[8:10] == ((8, 9), (10, 11))
    assert problem.units[0].demand_kbps[0, 0] == 40_950_000
    assert problem.networks[0].group_names[:2] == ("0-9", "10-24")


def test_the_limit_is_carried():
    assert [network.max_transitions for network in hax_sample(max_transitions=2).networks] == [2, 2]
