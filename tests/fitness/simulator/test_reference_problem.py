"""The reference problem: all 2**20 mappings at the fastest clocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.problems.reference_problem import KNOWN_BEST_MAKESPAN_PS, reference_problem
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.simulate import make_evaluator

GROUPS_PER_NETWORK = 10
BLOCK = 1 << 14
ANY = GROUPS_PER_NETWORK - 1


def mappings() -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Blocks of rows, and for each row the more switches of its two networks.

    Bit g of a number is the unit of group g: 0 the GPU, 1 the DLA.
    """
    groups = 2 * GROUPS_PER_NETWORK
    for first in range(0, 1 << groups, BLOCK):
        number = np.arange(first, first + BLOCK, dtype=np.int64)
        rows = np.zeros((BLOCK, groups + 2), dtype=np.int64)
        rows[:, :groups] = number[:, None] >> np.arange(groups) & 1
        changes = number ^ number >> 1
        inside = (1 << GROUPS_PER_NETWORK - 1) - 1
        switches = [
            np.bitwise_count(changes >> shift & inside) for shift in (0, GROUPS_PER_NETWORK)
        ]
        yield rows, np.maximum(*switches).astype(np.int64)


@pytest.fixture(scope="module")
def best() -> dict[int, tuple[int, NDArray[np.int64]]]:
    """Switches of the network with more of them -> smallest makespan and its row."""
    evaluate = make_evaluator(reference_problem(points=False))
    found: dict[int, tuple[int, NDArray[np.int64]]] = {}
    count = 0
    for rows, switches in mappings():
        makespan = evaluate(rows).makespan_ps
        count += len(rows)
        for limit in range(ANY + 1):
            index = np.flatnonzero(switches == limit)
            if len(index):
                winner = index[makespan[index].argmin()]
                if limit not in found or makespan[winner] < found[limit][0]:
                    found[limit] = (int(makespan[winner]), rows[winner].copy())
    assert count == 1 << 20
    assert sorted(found) == list(range(ANY + 1))
    return found


@pytest.mark.parametrize(
    ("limit", "milliseconds"), [(1, "7.533629"), (2, "7.325701"), (ANY, "7.325701")]
)
def test_best_makespan(
    best: dict[int, tuple[int, NDArray[np.int64]]], limit: int, milliseconds: str
) -> None:
    makespan = min(best[switches][0] for switches in range(limit + 1))
    assert f"{makespan / 1e9:.6f}" == milliseconds
    if limit in KNOWN_BEST_MAKESPAN_PS:
        assert abs(makespan - KNOWN_BEST_MAKESPAN_PS[limit]) <= 500


def test_the_best_mappings_replay(best: dict[int, tuple[int, NDArray[np.int64]]]) -> None:
    """The plain timeline gives the same makespans, and the switches are as counted."""
    problem = reference_problem(points=False)
    for limit, (makespan, row) in best.items():
        assert plain_timeline.simulate(problem, problem.design_of(row)).frame_end_ps == (makespan,)
        switches = [
            int((np.diff(row[network.groups.start : network.groups.stop]) != 0).sum())
            for network in problem.networks
        ]
        assert max(switches) == limit
