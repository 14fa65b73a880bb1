"""What units lose side by side, in arrays, against the plain form in Python integers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.enumerated.frames import enumerated
from paretosoc.fitness.check.boxes.costs import _least_loss
from paretosoc.fitness.contention import lost_rate, parameters_at
from paretosoc.fitness.multipliers.arrays import lost_shares
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS
from paretosoc.results.problem.parts import ContentionTable


def tables(count: int) -> list[ContentionTable]:
    """Of random problems."""
    found = []
    for seed in range(count):
        drawn = enumerated(seed)
        if drawn is not None:
            found += [unit.contention for unit in drawn.problem.units if unit.contention]
    return found


def least_loss(table: ContentionTable, own: int, others: int) -> int:
    """Over the memory's points; the loss may fall where the own demand becomes an intensive one,
    but for that of a memory that has less than is asked for."""
    slopes = replace(table, memory_kbps=None)
    return min(
        max(
            min(
                lost_rate(slopes, m, demand, others)
                for demand in (own, max(own, parameters_at(table, m)[1]))
            ),
            excess_loss(parameters_at(table, m)[-1], own, others),
        )
        for m in range(len(table.peak_kbps))
    )


def excess_loss(memory: int, own: int, others: int) -> int:
    if others == 0 or own + others <= memory:
        return 0
    return min(LOSS_LIMIT, -(-(own + others - memory) * WORK_PER_PS // (own + others)))


def demands(
    rng: np.random.Generator, table: ContentionTable, exact: type
) -> tuple[np.ndarray, ...]:
    """Own ones and others', many near a threshold."""
    limits = np.concatenate(
        [
            column
            for name, column in vars(table).items()
            if name.endswith("kbps") and column is not None
        ]
    ).tolist()
    near = [max(kbps + more, 0) for kbps in limits for more in (-1, 0, 1)]
    own = np.array([*near, *rng.integers(0, 2 * 10**8, 40)], dtype=exact)
    return own, np.array(rng.permutation(own), dtype=exact)


@pytest.mark.parametrize("exact", [np.int64, object])
def test_losses_are_those_of_the_plain_form(exact: type) -> None:
    rng, lost = np.random.default_rng(4), 0
    for table in tables(40):
        points = tuple(range(len(table.peak_kbps)))
        own, others = demands(rng, table, exact)
        plain = [least_loss(table, int(a), int(b)) for a, b in zip(own, others, strict=True)]
        assert _least_loss(table, points, own, others).tolist() == plain
        lost += sum(value > 0 for value in plain)
    assert lost > 200


def test_larger_demands_lose_no_less() -> None:
    rng, falls = np.random.default_rng(5), 0
    for table in tables(120):
        points = tuple(range(len(table.peak_kbps)))
        own, others = demands(rng, table, np.int64)
        least = _least_loss(table, points, own, others).tolist()
        for low, a, b in zip(least, own.tolist(), others.tolist(), strict=True):
            more = [v for v in own.tolist() if v >= a]
            losses = [lost_rate(table, m, v, b + v - a) for v in more for m in points]
            assert low <= min(losses)
            falls += min(losses) < min(lost_rate(table, m, a, b) for m in points)
    assert falls > 50


def test_the_search_computes_with_the_same_losses() -> None:
    rng = np.random.default_rng(6)
    for table in tables(60):
        own, others = demands(rng, table, np.int64)
        for m in range(len(table.peak_kbps)):
            exact = _least_loss(table, (m,), own, others) / WORK_PER_PS
            shares = lost_shares(table, m, own, others)
            assert np.abs(exact - shares).max() <= 1.01 / WORK_PER_PS


def test_where_numbers_are_too_large_they_are_those_of_python() -> None:
    (table, *_) = tables(20)
    own = np.array([10**30, 3 * 10**30], dtype=object)
    others = own[::-1].copy()
    points = tuple(range(len(table.peak_kbps)))
    plain = [least_loss(table, a, b) for a, b in zip(own, others, strict=True)]
    assert _least_loss(table, points, own, others).tolist() == plain
