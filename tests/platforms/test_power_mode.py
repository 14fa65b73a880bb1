"""Boards in one of their power modes."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform, load_platforms, platform_names
from paretosoc.platforms.source import Status

BOARD = "jetson-agx-orin"


def test_a_mode_caps_clocks_and_takes_processors_away() -> None:
    """MODE_15W has 4 of 12 cores and 3 of 8 GPU clusters."""
    whole, mode = load_platform(BOARD), load_platform(f"{BOARD}@MODE_15W")
    assert (mode.name, mode.sha256 == whole.sha256) == (f"{BOARD}@MODE_15W", False)
    cpu, gpu, dla = (mode.domain_by_name[name] for name in ("cpu", "gpu", "dla"))
    assert gpu.frequencies_khz == whole.domain_by_name["gpu"].frequencies_khz
    assert gpu.frequencies_khz[gpu.fastest] == 408_000
    assert cpu.frequencies_khz[cpu.fastest] <= 1_113_600 < cpu.frequencies_khz[cpu.fastest + 1]
    assert dla.frequencies_khz[dla.fastest] == 614_400
    for name, share in (("cpu", Fraction(1, 3)), ("gpu", Fraction(3, 8)), ("dla0", Fraction(1))):
        before, after = whole.unit_by_name[name], mode.unit_by_name[name]
        for old, new in zip(before.peaks, after.peaks, strict=True):
            assert new.macs_per_cycle == share * old.macs_per_cycle
            assert share == 1 or new.source.status is Status.ASSUMED
        for old, new in zip(before.power, after.power, strict=True):
            is_own = old.domain == before.clocks[0]
            assert new.idle_mw == old.idle_mw
            for above, under in zip(old.above_idle_mw, new.above_idle_mw, strict=True):
                assert abs(under - above * (share if is_own else 1)) <= Fraction(1, 2)
    units = {unit for record in mode.measurements for unit in record.units}
    assert not units & {"cpu", "gpu"}
    settings = mode.deployment.power_modes.settings
    assert "CPU_ONLINE CORE_3 1" in settings
    assert "CPU_ONLINE CORE_4 0" in settings
    assert "TPC_POWER_GATING TPC_PG_MASK 248" in settings


def test_the_mode_without_limits_is_the_board() -> None:
    whole, mode = load_platform(BOARD), load_platform(f"{BOARD}@MAXN")
    assert (mode.domains, mode.units) == (whole.domains, whole.units)
    assert mode.deployment == whole.deployment


def test_all_modes_of_all_boards_load_or_are_refused() -> None:
    """Those of TX2 that turn a cluster off are none of a search."""
    refused = set()
    for name in platform_names():
        chip = load_platform(name)
        if chip.deployment is None or chip.deployment.power_modes is None:
            continue
        for mode in chip.deployment.power_modes.modes:
            try:
                loaded = load_platform(f"{name}@{mode.name}")
            except PlatformError as error:
                refused.add(
                    f"{name}@{mode.name}: {str(error).rpartition(': ')[2].partition(';')[0]}"
                )
                continue
            for domain in loaded.domains:
                last = (
                    len(domain.operating_points) - 1 if domain.fastest is None else domain.fastest
                )
                assert 0 <= max(domain.parked, domain.lowest_host) <= last
    modes = ("MAXQ", "MAXP_CORE_ARM")
    assert refused == {f"jetson-tx2@{mode}: turns it off" for mode in modes}


def test_several_modes_are_several_platforms(tmp_path) -> None:
    names = [chip.name for chip in load_platforms("jetson-orin-nano-8gb@25W,15W,25W")]
    assert names == ["jetson-orin-nano-8gb@25W", "jetson-orin-nano-8gb@15W"]
    assert len(load_platforms("jetson-orin-nano-8gb@all")) == 3
    assert [chip.name for chip in load_platforms(BOARD)] == [BOARD]
    own = tmp_path / "my@board.json"
    own.write_text(json.dumps({"extends": BOARD, "name": "mine"}))
    assert load_platform(own).name == "mine"
    assert load_platform(f"{own}@MODE_30W").name == "mine@MODE_30W"
    for reference, words in (
        (f"{BOARD}@15W", "there is no power mode '15W'"),
        (f"{BOARD}@", "there is no power mode ''"),
        ("rk3588@all", "rk3588: has no power modes"),
        (f"{BOARD}@all", "one power mode is required"),
        ("nothing@all", "there is no chip"),
    ):
        with pytest.raises(PlatformError, match=words):
            load_platform(reference)
