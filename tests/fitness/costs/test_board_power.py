"""Power and times of Jetson AGX Xavier against what was measured on the board."""

from __future__ import annotations

from statistics import median

import pytest

from benchmarks.accuracy.board_power import compare
from paretosoc.platforms.io.platform_file import load_platform


@pytest.mark.parametrize("network", ["resnet50", "densenet121", "inception_v1"])
def test_board_power_over_the_gpu_clocks(network: str) -> None:
    rows = compare(network)
    assert len(rows) == 14
    assert median(abs(row.error) for row in rows) < 0.06
    assert max(abs(row.error) for row in rows) < 0.15
    assert all(0.6 < row.busy_share < 1 for row in rows)


def test_idle_board_against_the_idle_rails() -> None:
    # Sum of the six rails of idle lines at 1377 MHz, memory at 2133 MHz: 7395 mW.
    platform = load_platform("jetson-agx-xavier")
    units = platform.unit_by_name
    parked = platform.domain_by_name["cpu"].parked
    total = (
        platform.board_mw
        + platform.memory.power.idle_mw[-1]
        + units["cpu"].power[0].idle_mw[parked]
        + units["gpu"].power[0].idle_mw[-1]
    )
    assert total == pytest.approx(7395, rel=0.02)
