"""Numbers of measured, derived and assumed entries of a platform, by topic."""

from __future__ import annotations

from collections import Counter

from paretosoc.platforms.platform import Platform
from paretosoc.platforms.source import Source, Status

ENERGY = ("voltages", "power")
"""Topics that energy rests on, besides times."""


def sources_by_topic(platform: Platform) -> dict[str, tuple[Source, ...]]:
    """Return every source that the platform's file gives, once."""
    units, array, deployment = platform.units, platform.pe_array, platform.deployment
    return {
        "clocks": tuple(
            source
            for domain in platform.domains
            for source in (domain.ladder_source, domain.lowest_host_source)
            if source is not None
        ),
        "voltages": tuple(domain.voltage_source for domain in platform.domains),
        "times": (
            *(peak.source for unit in units for peak in unit.peaks),
            *(
                source
                for unit in units
                for source in (unit.bandwidth_source, unit.clock_law.source, unit.fixed_source)
            ),
            *(transition.source for transition in platform.transitions),
            platform.memory.source,
            *(pool.source for pool in platform.memory_pools),
            *(() if array is None else (array.source,)),
        ),
        "power": (
            *(table.source for unit in units for table in unit.power),
            platform.memory.power.source,
            platform.board_source,
        ),
        "contention": tuple(
            unit.contention.source for unit in units if unit.contention is not None
        ),
        "support": (
            *(unit.support_source for unit in units),
            *(rule.source for unit in units for rule in unit.rules),
        ),
        "networks": (
            *(record.source for record in platform.measurements),
            *(profile.source for profile in platform.profiles),
        ),
        "deployment": ()
        if deployment is None
        else (
            *(control.source for control in deployment.controls),
            *(() if deployment.power_modes is None else (deployment.power_modes.source,)),
        ),
    }


def count_sources(platform: Platform) -> dict[str, Counter[Status]]:
    """Return, for each topic, how many of its entries have each status."""
    return {
        topic: Counter(source.status for source in sources)
        for topic, sources in sources_by_topic(platform).items()
    }
