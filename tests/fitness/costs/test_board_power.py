"""Power and times of Jetson AGX Xavier against what was measured on the board."""

from __future__ import annotations

import re
from statistics import median

import pytest

from benchmarks.accuracy.board_power import compare
from paretosoc.platforms.deployment import PowerMode
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.platform import Platform, Unit


@pytest.mark.parametrize("network", ["inception_v3", "resnet50", "inception_v1"])
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


MODES = {
    f"{name}, {mode.name}": (name, mode)
    for name in platform_names()
    if (deployment := load_platform(name).deployment) and deployment.power_modes
    for mode in deployment.power_modes.modes
}


def busy_mw(platform: Platform, mode: PowerMode, unit: Unit) -> float:
    """Return a unit's power at a mode's clocks. Of a CPU the mode's cores count."""
    caps = dict(mode.caps_khz)
    table = unit.power[0]
    cap = caps.get(table.domain)
    if cap == 0:
        return 0.0
    khz = platform.ladder_khz(table.domain)
    point = sum(cap is None or other <= cap for other in khz) - 1
    cores = {one.cores for name, one in MODES.values() if name == platform.name}
    alone = sum(other.kind == "cpu" for other in platform.units) == 1
    share = mode.cores / max(cores) if unit.kind == "cpu" and alone else 1
    return share * table.busy_mw[max(point, 0)]


@pytest.mark.parametrize("key", [key for key in MODES if re.search(r"[0-9]W", key)])
def test_a_busy_board_draws_about_what_its_power_mode_is_named_after(key: str) -> None:
    """Everything at once at its clocks. The board throttles before that, the more the smaller
    the mode, since its memory keeps its clock."""
    name, mode = MODES[key]
    platform = load_platform(name)
    watts = int(re.findall(r"([0-9]+)W", mode.name)[0])
    cap = dict(mode.caps_khz).get(platform.memory.domain)
    point = sum(cap is None or khz <= cap for khz in platform.ladder_khz(platform.memory.domain))
    total = platform.board_mw + platform.memory.power.busy_mw[point - 1]
    total += sum(busy_mw(platform, mode, unit) for unit in platform.units)
    assert 0.75 < total / 1000 / watts < (1.25 if watts > 15 else 1.7)


@pytest.mark.parametrize(
    ("mode", "gpu", "cpu"),
    [
        ("MAXN", 40.4, 15.2),
        ("MODE_50W", 18.4, 6.0),
        ("MODE_30W", 7.6, 5.6),
        ("MODE_15W", 5.2, 1.6),
    ],
)
def test_rails_of_agx_orin_under_stress(mode: str, gpu: float, cpu: float) -> None:
    """Watts of NVIDIA's forum, topic 323456. The model has no mode with fewer of the GPU's cores,
    as 30W and 15W are."""
    platform = load_platform("jetson-agx-orin")
    _, known = MODES[f"jetson-agx-orin, {mode}"]
    found = [busy_mw(platform, known, platform.unit_by_name[unit]) for unit in ("gpu", "cpu")]
    assert found[0] / 1000 == pytest.approx(gpu, rel=0.5 if known.tpc_mask else 0.2)
    assert found[1] / 1000 == pytest.approx(cpu, rel=0.25)


def test_no_core_draws_less_at_a_faster_clock() -> None:
    for name in platform_names():
        for unit in load_platform(name).units:
            for table in unit.power:
                assert list(table.busy_mw) == sorted(table.busy_mw), (name, unit.name)
