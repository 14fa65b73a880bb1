"""The slowdown in integers against its formula in fractions, and against the published form."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paretosoc.common.units import KBPS_PER_GBPS
from paretosoc.fitness.contention import contention_table, lost_rate
from paretosoc.platforms.platform import Contention
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS
from paretosoc.results.problem.parts import ContentionTable
from tests.support.problems.small_problems import parameters

MAX_KBPS = 100_000_000
XAVIER_GPU = parameters(
    normal_kbps=38_100_000,
    total_kbps=87_200_000,
    balance_kbps=45_300_000,
    peak_kbps=127_500_000,
    minor_percent="4.9",
    rate_percent_per_gbps="1.11",
)
XAVIER_GPU_INTENSIVE_KBPS = 96_200_000
XAVIER_DLA = parameters(
    normal_kbps=27_900_000,
    total_kbps=22_100_000,
    balance_kbps=71_100_000,
    peak_kbps=127_500_000,
    minor_percent="4.9",
    rate_percent_per_gbps="0.35",
)

bandwidths = st.integers(0, MAX_KBPS)
# With two decimals in the rate, products stay below 2**63 up to here.
thresholds = st.integers(1, 750).map(lambda value: value * 100_000)
drawn = st.builds(
    parameters,
    normal_kbps=thresholds,
    total_kbps=thresholds,
    balance_kbps=thresholds,
    peak_kbps=thresholds,
    minor_percent=st.integers(0, 400).map(lambda value: str(value / 10)),
    rate_percent_per_gbps=st.integers(0, 300).map(lambda value: str(value / 100)),
)
any_parameters = st.one_of(st.just(XAVIER_GPU), st.just(XAVIER_DLA), drawn)
slowly = settings(max_examples=100, deadline=None, derandomize=True)


def table_of(stated: Contention, most_kbps: int = MAX_KBPS) -> ContentionTable:
    return contention_table(stated, [Fraction(1)], [most_kbps])


def per_kbps(stated: Contention) -> Fraction:
    return stated.rate_percent_per_gbps / KBPS_PER_GBPS


def minor_percent(stated: Contention, others: int) -> Fraction:
    peak = stated.peak_bandwidth_kbps
    return stated.max_minor_percent * min(others, peak) / peak


def formula_percent(stated: Contention, own: int, others: int) -> Fraction:
    """The formula of ``fitness.contention``, in percent."""
    if others == 0:
        return Fraction(0)
    reduction = minor_percent(stated, others)
    total, balance = stated.total_bandwidth_kbps, stated.balance_point_kbps
    span = own + balance - total
    if own >= stated.normal_bandwidth_kbps and span > 0:
        if own < total:
            heavy = per_kbps(stated) * min(max(own + others - total, 0), span)
        else:
            heavy = per_kbps(stated) * span * min(others, balance) / balance
        reduction = max(reduction, heavy)
    return min(reduction, Fraction(95))


def published_percent(stated: Contention, intensive: int, own: int, others: int) -> Fraction:
    """The three regions of PCCS as published, with y up to PBW; may fall and be negative."""
    total, balance = stated.total_bandwidth_kbps, stated.balance_point_kbps
    if own < stated.normal_bandwidth_kbps:
        return stated.max_minor_percent * others / stated.peak_bandwidth_kbps
    if own < intensive:
        if own + others < total:
            return stated.max_minor_percent * others / stated.peak_bandwidth_kbps
        return per_kbps(stated) * (own + min(others, balance) - total)
    slope = per_kbps(stated) * (own + balance - total) / balance
    return slope * min(others, balance)


def loss_of(percent: Fraction) -> int:
    """Rate lost, rounded up to 1/65536."""
    exact = percent * WORK_PER_PS / 100
    return -(-exact.numerator // exact.denominator)


@given(stated=any_parameters, own=bandwidths, others=bandwidths)
@slowly
def test_integers_equal_the_formula(stated: Contention, own: int, others: int) -> None:
    loss = lost_rate(table_of(stated), 0, own, others)
    assert loss == loss_of(formula_percent(stated, own, others))
    assert 0 <= loss <= LOSS_LIMIT < WORK_PER_PS


@given(stated=any_parameters, data=st.data())
@slowly
def test_integers_equal_the_formula_at_the_thresholds(
    stated: Contention, data: st.DataObject
) -> None:
    edges = [
        stated.normal_bandwidth_kbps,
        stated.total_bandwidth_kbps,
        stated.balance_point_kbps,
        stated.peak_bandwidth_kbps,
        stated.total_bandwidth_kbps - stated.balance_point_kbps,
        stated.total_bandwidth_kbps - stated.normal_bandwidth_kbps,
    ]
    near = st.builds(
        lambda edge, step: max(edge + step, 0), st.sampled_from(edges), st.integers(-1, 1)
    )
    own, others = data.draw(near), data.draw(near)
    loss = lost_rate(table_of(stated), 0, own, others)
    assert loss == loss_of(formula_percent(stated, own, others))


@given(stated=any_parameters, own=bandwidths, others=bandwidths, more=st.integers(0, 10**7))
@slowly
def test_more_demand_of_others_never_helps(
    stated: Contention, own: int, others: int, more: int
) -> None:
    table = table_of(stated)
    assert lost_rate(table, 0, own, others) <= lost_rate(table, 0, own, others + more)


@given(
    stated=any_parameters,
    intensive=st.integers(0, MAX_KBPS),
    own=bandwidths,
    share=st.fractions(0, 1),
)
@slowly
def test_equals_the_published_form_where_that_does_not_fall(
    stated: Contention, intensive: int, own: int, share: Fraction
) -> None:
    """Where the published form says less than minor contention alone, it has fallen."""
    total = stated.total_bandwidth_kbps
    intensive = max(intensive, total)
    if stated.normal_bandwidth_kbps == XAVIER_GPU.normal_bandwidth_kbps:
        intensive = XAVIER_GPU_INTENSIVE_KBPS
    others = int(share * stated.peak_bandwidth_kbps)
    # Between these two the slope of intensive groups is used.
    assume(not total <= own < intensive)
    published = published_percent(stated, intensive, own, others)
    expected = min(max(published, minor_percent(stated, others)), Fraction(95))
    assert lost_rate(table_of(stated), 0, own, others) == loss_of(expected)


def test_between_total_and_intensive_bandwidth_the_intensive_slope_is_used() -> None:
    """There the published form starts at (x - TBWDC) * rateN however little the others ask for."""
    own, others = 92_000_000, 1_000_000
    published = published_percent(XAVIER_GPU, XAVIER_GPU_INTENSIVE_KBPS, own, others)
    ours = Fraction(111, 100) * (own - 41_900_000) * others / 45_300_000 / KBPS_PER_GBPS
    assert published > 6
    assert 1 < ours < 2
    assert lost_rate(table_of(XAVIER_GPU), 0, own, others) == loss_of(ours)


@pytest.mark.parametrize(
    ("stated", "own_gbps", "others_gbps", "percent"),
    [
        # Minor: 4.9 * 60 / 127.5.
        (XAVIER_GPU, 30, 60, Fraction("4.9") * 60 / Fraction("127.5")),
        # Normal: (60 + 40 - 87.2) * 1.11, and from 45.3 on the flat (60 - 41.9) * 1.11.
        (XAVIER_GPU, 60, 40, Fraction("12.8") * Fraction("1.11")),
        (XAVIER_GPU, 60, 80, Fraction("18.1") * Fraction("1.11")),
        # Intensive and flat: the third branch of the public solver, (x - 41.9) * 1.11.
        (XAVIER_GPU, 100, 50, Fraction("58.1") * Fraction("1.11")),
        # The DLA's second branch, (x + 49) * 0.35.
        (XAVIER_DLA, 40, 75, 89 * Fraction("0.35")),
    ],
)
def test_xaviers_constants_give_what_the_public_solver_computes(
    stated: Contention, own_gbps: int, others_gbps: int, percent: Fraction
) -> None:
    own, others = own_gbps * KBPS_PER_GBPS, others_gbps * KBPS_PER_GBPS
    assert lost_rate(table_of(stated), 0, own, others) == loss_of(percent)


@given(
    stated=any_parameters,
    demands=st.lists(bandwidths, min_size=2, max_size=6),
    memory=st.integers(MAX_KBPS, 3 * MAX_KBPS),
)
@slowly
def test_units_together_get_at_most_what_the_memory_has(
    stated: Contention, demands: list[int], memory: int
) -> None:
    """No demand alone is more."""
    table = contention_table(stated, [Fraction(1)], [MAX_KBPS], [memory])
    total, got = sum(demands), 0
    for own in demands:
        lost = lost_rate(table, 0, own, total - own)
        got += own * (WORK_PER_PS - lost)
        without = lost_rate(table_of(stated), 0, own, total - own)
        assert lost == without or (lost > without and total > memory)
    assert got <= memory * WORK_PER_PS


def test_a_memory_that_has_less_than_is_asked_for_is_shared_out() -> None:
    """1 - 120 / (100 + 50) of the rate, rounded up."""
    table = contention_table(parameters(), [Fraction(1)], [100], [120])
    assert lost_rate(table, 0, 100, 50) == lost_rate(table, 0, 50, 100) == 13_108
    assert lost_rate(table, 0, 100, 20) == 0
    assert lost_rate(table, 0, 130, 0) == 0


def test_xaviers_gpu_constant_in_lowest_terms() -> None:
    table = table_of(XAVIER_GPU)
    assert (table.intensive_num[0], table.intensive_den[0]) == (74, 4_608_154_296_875)


@given(stated=any_parameters, own=bandwidths)
@slowly
def test_nobody_is_slowed_by_nobody(stated: Contention, own: int) -> None:
    assert lost_rate(table_of(stated), 0, own, 0) == 0


def test_no_more_than_95_percent() -> None:
    stated = replace(XAVIER_GPU, rate_percent_per_gbps=Fraction(5))
    assert LOSS_LIMIT == 62_260
    assert formula_percent(stated, 100_000_000, 100_000_000) == 95
    assert lost_rate(table_of(stated), 0, 100_000_000, 100_000_000) == LOSS_LIMIT
    # 94.9 % is not capped.
    stated = replace(stated, rate_percent_per_gbps=Fraction("1.63"))
    assert 94 < formula_percent(stated, 100_000_000, 100_000_000) < 95
    assert lost_rate(table_of(stated), 0, 100_000_000, 100_000_000) < LOSS_LIMIT


@pytest.mark.parametrize(
    "stated",
    [
        replace(XAVIER_GPU, max_minor_percent=Fraction(10**15 + 1, 10**15)),
        replace(XAVIER_GPU, rate_percent_per_gbps=Fraction(10**15 + 1, 10**15)),
        replace(XAVIER_GPU, rate_percent_per_gbps=Fraction(1_113_337, 10**6)),
    ],
    ids=["minor", "proportional", "intensive"],
)
def test_products_beyond_63_bits_are_refused(stated: Contention) -> None:
    with pytest.raises(ResultError, match=r"slope needs products below 2\*\*63, got \d+ at 1\.000"):
        table_of(stated)


@given(
    stated=any_parameters,
    digits=st.integers(0, 16),
    own=st.integers(0, 10**9),
    others=st.integers(0, 10**12),
)
@slowly
def test_what_is_not_refused_stays_within_63_bits(
    stated: Contention, digits: int, own: int, others: int
) -> None:
    """The numerators of every demand up to the largest one stated."""
    long = replace(stated, rate_percent_per_gbps=Fraction(10**digits + 1, 10**digits))
    try:
        table = table_of(long, most_kbps=own)
    except ResultError:
        return
    balance, total = int(table.balance_kbps[0]), int(table.total_kbps[0])
    span = max(own + balance - total, 0)
    assert min(others, int(table.peak_kbps[0])) * int(table.minor_num[0]) < 1 << 63
    assert span * int(table.proportional_num[0]) < 1 << 63
    assert span * min(others, balance) * int(table.intensive_num[0]) < 1 << 63
    assert lost_rate(table, 0, own, others) == loss_of(formula_percent(long, own, others))


class TestMemoryClocks:
    @given(
        stated=any_parameters,
        parts=st.sampled_from([2, 4, 5]),
        own=st.integers(0, MAX_KBPS // 20),
        others=st.integers(0, MAX_KBPS // 20),
    )
    @slowly
    def test_a_share_of_the_clock_under_that_share_of_the_demands_loses_the_same(
        self, stated: Contention, parts: int, own: int, others: int
    ) -> None:
        """To the last bit, where the scaled figures are whole."""
        table = contention_table(
            stated, [Fraction(1, parts), Fraction(1)], [MAX_KBPS // parts, MAX_KBPS]
        )
        assert all(value % (parts * 1000) == 0 for value in bandwidth_figures(stated))
        scaled = lost_rate(table, 0, own, others)
        assert scaled == lost_rate(table, 1, parts * own, parts * others)

    @given(
        stated=st.sampled_from([XAVIER_GPU, XAVIER_DLA]),
        clock=st.sampled_from([204_000, 408_000, 665_600, 800_000, 1_331_200, 1_600_000]),
        own=st.integers(0, 130_000_000),
        others=st.integers(0, 130_000_000),
    )
    @slowly
    def test_other_clocks_up_to_the_rounding_of_the_figures(
        self, stated: Contention, clock: int, own: int, others: int
    ) -> None:
        """Thresholds are rounded to 1 MB/s, the rate to 0.01 % per GB/s."""
        scale = Fraction(clock, 2_133_000)
        # At these two the slowdown jumps; within the rounding, either side is right.
        jumps = (stated.normal_bandwidth_kbps, stated.total_bandwidth_kbps)
        assume(all(abs(own - jump) * scale > 1_000 for jump in jumps))
        table = contention_table(stated, [scale, Fraction(1)], [130_000_000] * 2)
        loss = lost_rate(table, 0, round(own * scale), round(others * scale))
        span_gbps = Fraction(own + stated.balance_point_kbps, KBPS_PER_GBPS) * scale
        rate = stated.rate_percent_per_gbps / scale
        percent = Fraction("0.005") * span_gbps + Fraction("0.01") * (rate + 1)
        percent += minor_percent(stated, MAX_KBPS) / 1000
        assert abs(loss - lost_rate(table, 1, own, others)) <= loss_of(percent) + 2

    def test_the_fastest_clock_keeps_the_published_figures(self) -> None:
        stated = replace(XAVIER_GPU, normal_bandwidth_kbps=38_123_456)
        table = contention_table(stated, [Fraction(1, 3), Fraction(1)], [MAX_KBPS] * 2)
        assert table.normal_kbps.tolist() == [12_708_000, 38_123_456]
        assert table.total_kbps.tolist() == [29_067_000, 87_200_000]
        # 3.33 % per GB/s: 65536 / 100 * 3.33 / 10**6.
        assert Fraction(int(table.proportional_num[0]), int(table.proportional_den[0])) == (
            Fraction(65536 * 333, 100 * 100 * KBPS_PER_GBPS)
        )


def bandwidth_figures(stated: Contention) -> tuple[int, ...]:
    return (
        stated.normal_bandwidth_kbps,
        stated.total_bandwidth_kbps,
        stated.balance_point_kbps,
        stated.peak_bandwidth_kbps,
    )
