"""Boards in power modes: clocks up to the caps, and the processors that are on line."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction

from paretosoc.common.text import did_you_mean
from paretosoc.platforms.deployment import PowerMode, PowerModes
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Domain, Peak, Platform, PowerTable, Unit
from paretosoc.platforms.source import Source, Status, round_half_up

ALL_MODES = "all"


def board_and_mode(name: str) -> tuple[str, str]:
    """Return the board and the power mode of ``BOARD@MODE``. The mode is empty without one."""
    board, sign, mode = name.rpartition("@")
    return (board, mode) if sign else (name, "")


def power_modes_named(platform: Platform, names: str) -> list[Platform]:
    """Return the platform in each of its power modes of these names, comma-separated, or in
    ``all``.

    Raises:
        PlatformError: on a mode that it does not have, that turns a clock off, or that leaves a
            clock no operating point.
    """
    modes = None if platform.deployment is None else platform.deployment.power_modes
    if modes is None:
        raise PlatformError(f"{platform.name}: has no power modes, got {names!r}")
    by_name = {mode.name: mode for mode in modes.modes}
    chosen = list(by_name) if names == ALL_MODES else names.split(",")
    for name in chosen:
        if name not in by_name:
            hint = did_you_mean(name, tuple(by_name))
            raise PlatformError(f"{platform.name}: there is no power mode {name!r} ({hint})")
    return [_in_mode(platform, modes, by_name[name]) for name in dict.fromkeys(chosen)]


def _in_mode(platform: Platform, modes: PowerModes, mode: PowerMode) -> Platform:
    shares = {kind: share for kind, share in modes.shares(mode).items() if share != 1}
    changed = {unit.name for unit in platform.units if unit.kind in shares}
    words = f"{mode.cores} CPU cores, GPU clusters without power: mask {mode.tpc_mask}"
    source = Source(Status.ASSUMED, f"In the power mode {mode.name} ({words}) in proportion to")
    others = tuple(other for other in modes.modes if other is not mode)
    assert platform.deployment is not None, "it has modes"
    return replace(
        platform,
        name=f"{platform.name}@{mode.name}",
        title=f"{platform.title}, {mode.name}",
        sha256=hashlib.sha256(f"{platform.sha256}@{mode.name}".encode()).hexdigest(),
        domains=tuple(_capped(domain, dict(mode.caps_khz), mode) for domain in platform.domains),
        units=tuple(
            _with_share(unit, shares[unit.kind], source) if unit.name in changed else unit
            for unit in platform.units
        ),
        # Those with all processors say nothing of fewer.
        measurements=tuple(m for m in platform.measurements if not changed & set(m.units)),
        profiles=tuple(
            profile
            for profile in platform.profiles
            if not changed & {m.unit for part in (*profile.groups, *profile.layers)
                              for m in part.units}
        ),
        reduced_units=frozenset(changed),
        deployment=replace(
            platform.deployment,
            power_modes=replace(
                modes,
                modes=(mode, *others),
                settings=tuple(_setting(line, mode) for line in modes.settings),
            ),
        ),
    )  # fmt: skip


def _capped(domain: Domain, caps_khz: dict[str, int | None], mode: PowerMode) -> Domain:
    cap, ladder = caps_khz.get(domain.name), domain.frequencies_khz
    if cap is None:
        return domain
    fastest = sum(khz <= cap for khz in ladder) - 1
    if fastest < 0:
        why = (
            "turns it off; without a mode, --units leaves its units out"
            if cap == 0
            else f"caps it at {cap / 1000:g} MHz, below its ladder"
        )
        raise PlatformError(f"power mode {mode.name}: domain {domain.name!r}: {why}")
    return replace(
        domain,
        fastest=fastest,
        parked=min(domain.parked, fastest),
        lowest_host=min(domain.lowest_host, fastest),
    )


def _with_share(unit: Unit, share: Fraction, source: Source) -> Unit:
    """Return a unit with fewer processors: peaks and power above idle in proportion. Idle power
    stays, since nobody publishes that of fewer."""

    def noted(own: Source) -> Source:
        return replace(source, text=f"{source.text}: {own.text}")

    def peak(own: Peak) -> Peak:
        return replace(own, macs_per_cycle=own.macs_per_cycle * share, source=noted(own.source))

    def power(own: PowerTable) -> PowerTable:
        if own.domain != unit.clocks[0]:
            return own
        busy = tuple(
            idle + round_half_up(above * share)
            for idle, above in zip(own.idle_mw, own.above_idle_mw, strict=True)
        )
        return replace(own, busy_mw=busy, source=noted(own.source))

    return replace(unit, peaks=tuple(map(peak, unit.peaks)), power=tuple(map(power, unit.power)))


def _setting(line: str, mode: PowerMode) -> str:
    name, argument, value = line.split()
    if name == "CPU_ONLINE":
        value = str(int(int(argument.removeprefix("CORE_")) < mode.cores))
    elif argument == "TPC_PG_MASK":
        value = str(mode.tpc_mask)
    return f"{name} {argument} {value}"
