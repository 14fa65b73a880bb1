"""The slowdown of co-runners (PCCS, made monotone) as integers that every evaluator agrees on.

With own demand x and the sum of the others' demands y, a group loses R percent of its rate::

    R = 0 if y = 0, else the largest of
        MRMC * min(y, PBW) / PBW             (minor contention)
        rateN * clip(x + y - TBWDC, 0, a)    if normalBW <= x < TBWDC
        rateN * a * min(y, CBP) / CBP        if x >= max(normalBW, TBWDC)
        100 (1 - B / (x + y))                if x + y > B

with a = x + CBP - TBWDC > 0, B the bandwidth of the memory, and R at most 95. The rate is
w = 2**16 - ceil(2**16 R / 100), the slowdown s = 2**16 / w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from paretosoc.common.units import KBPS_PER_GBPS
from paretosoc.platforms.platform import Contention
from paretosoc.platforms.source import round_half_up
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS
from paretosoc.results.problem.parts import ContentionTable

LIMIT = 1 << 63
COARSE_KBPS = (1_000, 10_000, 100_000)
"""Scaled thresholds are multiples of the first of these with which the fractions stay small enough
for int64. The published ones have a tenth of a GB/s at best."""
COARSE_RATE = Fraction(1, 100)
"""Scaled rates keep two decimals, like the published ones."""


def contention_table(
    parameters: Contention,
    memory_scale: Sequence[Fraction],
    largest_demand_kbps: Sequence[int],
    memory_kbps: Sequence[int] | None = None,
) -> ContentionTable:
    """Return integer parameters at every operating point of the memory.

    All bandwidths scale with the memory clock, and the rate, percent *per bandwidth*, by its
    inverse: a memory at half the clock under half the demands slows everybody by the same share.

    Args:
        parameters: as published, at the memory's fastest clock.
        memory_scale: per operating point, its clock over the fastest.
        largest_demand_kbps: per operating point, the largest own demand that can occur.
        memory_kbps: per operating point, what all units together get at most. None: no limit.

    Raises:
        ResultError: if a product, or a fraction's part, could leave int64.
    """
    rows = []
    for scale, demand in zip(memory_scale, largest_demand_kbps, strict=True):
        coarseness = COARSE_KBPS if scale != 1 else COARSE_KBPS[:1]
        candidates = [_row(parameters, scale, coarse) for coarse in coarseness]
        products = [largest_products(row, demand) for row in candidates]
        fitting = [
            row
            for row, sizes in zip(candidates, products, strict=True)
            if max(sizes.values()) < LIMIT
        ]
        if not fitting:
            what, size = max(products[-1].items(), key=lambda item: item[1])
            raise ResultError(
                f"contention parameters: the {what} slope needs products below 2**63, got {size} "
                f"at {float(scale):.3f} of the memory's fastest clock; "
                "give the parameters with fewer digits"
            )
        rows.append(fitting[0])
    columns = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    memory = None if memory_kbps is None else np.array(memory_kbps, dtype=np.int64)
    return replace(ContentionTable(*columns), memory_kbps=memory)


def _row(parameters: Contention, scale: Fraction, coarse_kbps: int) -> tuple[int, ...]:
    """Return the columns of a :class:`ContentionTable` at one operating point of the memory, but
    for its bandwidth."""
    normal, total, balance, peak = (
        _scaled(value, scale, coarse_kbps)
        for value in (
            parameters.normal_bandwidth_kbps,
            parameters.total_bandwidth_kbps,
            parameters.balance_point_kbps,
            parameters.peak_bandwidth_kbps,
        )
    )
    rate = parameters.rate_percent_per_gbps
    if scale != 1:
        rate = round_half_up(rate / scale / COARSE_RATE) * COARSE_RATE
    minor = Fraction(WORK_PER_PS, 100) * parameters.max_minor_percent / peak
    proportional = Fraction(WORK_PER_PS, 100) * rate / KBPS_PER_GBPS
    intensive = proportional / balance
    return (
        *(normal, total, balance, peak),
        *(minor.numerator, minor.denominator),
        *(proportional.numerator, proportional.denominator),
        *(intensive.numerator, intensive.denominator),
    )


def largest_products(row: tuple[int, ...], demand: int) -> dict[str, int]:
    """Return the largest number of each slope in :func:`lost_rate` for demands up to ``demand``.

    The demand is in kB/s. A number is a numerator times a bandwidth, or a part of the fraction.

    Args:
        row: the columns of a :class:`ContentionTable` at one operating point of the memory.
    """
    _, total, balance, peak, *slopes = row
    span = max(demand + balance - total, 0)
    factors = {"minor": peak, "proportional": span, "intensive": span * balance}
    return {
        what: max(slopes[2 * index] * max(factor, 1), slopes[2 * index + 1])
        for index, (what, factor) in enumerate(factors.items())
    }


def lost_rate(table: ContentionTable, memory_point: int, own_kbps: int, others_kbps: int) -> int:
    """Return the rate that a group loses, in 1/65536. The plain form, in Python's integers."""
    if others_kbps == 0:
        return 0
    normal, total, balance, peak, *slopes, memory = parameters_at(table, memory_point)
    minor_num, minor_den, proportional_num, proportional_den, intensive_num, intensive_den = slopes
    loss = _ceil_div(min(others_kbps, peak) * minor_num, minor_den)
    span = own_kbps + balance - total
    if own_kbps >= normal and span > 0:
        if own_kbps < total:
            overload = min(max(own_kbps + others_kbps - total, 0), span)
            heavy = _ceil_div(overload * proportional_num, proportional_den)
        else:
            heavy = _ceil_div(span * min(others_kbps, balance) * intensive_num, intensive_den)
        loss = max(loss, heavy)
    asked = own_kbps + others_kbps
    if asked > memory:
        loss = max(loss, _ceil_div((asked - memory) * WORK_PER_PS, asked))
    return min(loss, LOSS_LIMIT)


@lru_cache(maxsize=1024)
def parameters_at(table: ContentionTable, memory_point: int) -> tuple[int, ...]:
    """Return the columns of a table, in their order, at one operating point of the memory."""
    return tuple(int(column[memory_point]) for column in table.columns.values())


def _scaled(value_kbps: int, scale: Fraction, coarse_kbps: int) -> int:
    if scale == 1:
        return value_kbps
    return max(1, round_half_up(value_kbps * scale / coarse_kbps)) * coarse_kbps


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
