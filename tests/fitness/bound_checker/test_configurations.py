"""What units lose side by side, in arrays, against the plain form in Python integers."""

from __future__ import annotations

import numpy as np
import pytest

from fitness.bound_checker.costs import _least_loss
from fitness.contention import lost_rate
from results.problem.problem import ContentionTable
from tests.support.proofs.random_boxes import enumerated


def tables(count: int) -> list[ContentionTable]:
    """Of random problems."""
    found = []
    for seed in range(count):
        drawn = enumerated(seed)
        if drawn is not None:
            found += [unit.contention for unit in drawn.problem.units if unit.contention]
    return found


@pytest.mark.parametrize("exact", [np.int64, object])
def test_losses_are_those_of_the_plain_form(exact: type) -> None:
    rng, lost = np.random.default_rng(4), 0
    for table in tables(40):
        points = tuple(range(len(table.peak_kbps)))
        limits = np.concatenate(list(vars(table).values())[:4]).tolist()
        near = [kbps + more for kbps in limits for more in (-1, 0, 1)]
        own = np.array([*near, *rng.integers(0, 2 * 10**8, 40)], dtype=exact)
        others = np.array(rng.permutation(own), dtype=exact)
        plain = [
            min(lost_rate(table, m, int(a), int(b)) for m in points)
            for a, b in zip(own, others, strict=True)
        ]
        assert _least_loss(table, points, own, others).tolist() == plain
        lost += sum(value > 0 for value in plain)
    assert lost > 200


def test_where_numbers_are_too_large_they_are_those_of_python() -> None:
    (table, *_) = tables(20)
    own = np.array([10**30, 3 * 10**30], dtype=object)
    others = own[::-1].copy()
    points = tuple(range(len(table.peak_kbps)))
    plain = [
        min(lost_rate(table, m, a, b) for m in points) for a, b in zip(own, others, strict=True)
    ]
    assert _least_loss(table, points, own, others).tolist() == plain
