"""Warnings about a platform file that is sound, but has figures that are hardly meant."""

from __future__ import annotations

from itertools import pairwise

from paretosoc.common.text import did_you_mean
from paretosoc.platforms.platform import Domain, Platform, PowerTable

SLOWEST_KHZ = 10_000
"""No unit or memory has a fastest clock below 10 MHz."""


def platform_warnings(platform: Platform) -> tuple[str, ...]:
    """Return texts about operations that ONNX does not have, powers that fall while the clock rises
    and clocks that are given in another unit than MHz."""
    tables = [(unit.name, table) for unit in platform.units for table in unit.power]
    return (
        *_misspelt_operations(platform),
        *(text for domain in platform.domains for text in _slow(domain)),
        *(
            text
            for name, table in [*tables, ("memory", platform.memory.power)]
            for text in _falling(name, table, platform.ladder_khz(table.domain))
        ),
    )


def _misspelt_operations(platform: Platform) -> list[str]:
    """Return a text about each operation in the rules of a unit that ONNX does not have, if it has
    one with nearly the same name. Other unknown names may be operations of other domains."""
    from onnx import defs

    found = []
    for unit in platform.units:
        named = (*unit.unsupported_operations, *(rule.operation for rule in unit.rules))
        for operation in dict.fromkeys(text.split()[0] for text in named):
            if operation == "*" or defs.has(operation):
                continue
            known = {schema.name for schema in defs.get_all_schemas()}
            hint = did_you_mean(operation, known, "", most=1, cutoff=0.8)
            if hint:
                found.append(f"{unit.name}: no operation is called {operation!r}; {hint}")
    return found


def _slow(domain: Domain) -> list[str]:
    fastest = domain.frequencies_khz[-1]
    if fastest >= SLOWEST_KHZ:
        return []
    return [f"{domain.name}: its fastest clock is {fastest / 1000:g} MHz; clocks must be in MHz"]


def _falling(name: str, table: PowerTable, ladder_khz: tuple[int, ...]) -> list[str]:
    """Return a text about the first clock at which less is drawn than at the one before it."""
    found = []
    for what, powers in (("idle", table.idle_mw), ("busy", table.busy_mw)):
        for (low, before), (high, after) in pairwise(zip(ladder_khz, powers, strict=True)):
            if after < before:
                found.append(
                    f"{name}: its {what} power by the clock {table.domain} falls from {before} mW "
                    f"at {low / 1000:g} MHz to {after} mW at {high / 1000:g} MHz"
                )
                break
    return found
