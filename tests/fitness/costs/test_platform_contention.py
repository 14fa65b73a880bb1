"""The contention figures of every platform can be brought into 64-bit integers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paretosoc.fitness.contention import contention_table
from paretosoc.platforms.io.platform_file import load_platform, platform_names


@pytest.mark.parametrize("name", platform_names())
def test_contention_tables_of_every_unit_at_every_memory_clock(name: str) -> None:
    platform = load_platform(name)
    memory = platform.domain_by_name[platform.memory.domain].operating_points
    fastest = memory[-1].frequency_khz
    scales = [Fraction(point.frequency_khz, fastest) for point in memory]
    demands = [platform.memory.bytes_per_cycle * point.frequency_khz for point in memory]
    for unit in platform.units:
        if unit.bandwidth_share == 0:
            assert unit.contention is None
            continue
        assert unit.contention is not None
        table = contention_table(unit.contention, scales, demands)
        assert table.normal_kbps[-1] == unit.contention.normal_bandwidth_kbps
        assert (table.peak_kbps <= demands).all()


def test_xaviers_gpu_is_as_published() -> None:
    contention = load_platform("jetson-agx-xavier").unit_by_name["gpu"].contention
    assert contention is not None
    assert contention.normal_bandwidth_kbps == 38_100_000
    # The 41.9 GB/s of the published solver.
    assert contention.total_bandwidth_kbps - contention.balance_point_kbps == 41_900_000
    assert contention.peak_bandwidth_kbps == 127_500_000
    assert contention.max_minor_percent == Fraction("4.9")
    assert contention.rate_percent_per_gbps == Fraction("1.11")
