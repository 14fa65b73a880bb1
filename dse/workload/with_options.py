"""Workloads as the options change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paretosoc.dse.workload.options import FIELDS, NETWORK_LIMITS, Options, as_written
from paretosoc.dse.workload.releases import check_max_misses
from paretosoc.dse.workload.scenarios import apply_scenario
from paretosoc.dse.workload.variants import check_names, with_variants
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork


def with_options(workload: Workload, options: Options) -> Workload:
    """Return the workload with the variants, sizes, batches and scenario of the options.

    Raises:
        WorkloadError: on a network that is not there, one without the choice of a variant, or a
            scenario that does not fit.
    """
    workload = with_dimensions(with_variants(workload, options), options.dimensions)
    return workload if options.scenario is None else apply_scenario(workload, options.scenario)


def with_dimensions(workload: Workload, sizes: Sequence[tuple[str, int]]) -> Workload:
    """Return the workload with such sizes for all its networks, or for the one whose name and a
    colon come first. They override its own sizes, and those of one network override those of all.
    """
    if not sizes:
        return workload
    names = {network.name for network in workload.networks}
    parts = [(*key.partition(":"), key, size) for key, size in sizes]
    shared = {key: size for name, _, rest, key, size in parts if not (name in names and rest)}

    def given(network: WorkloadNetwork) -> dict[str, int]:
        if network.is_task:
            return {}
        own = {rest: size for name, _, rest, _, size in parts if name == network.name and rest}
        return {**dict(network.dimensions), **shared, **own}

    return replace(
        workload,
        networks=tuple(
            replace(network, dimensions=tuple(given(network).items()))
            for network in workload.networks
        ),
    )


def with_limits(workload: Workload, options: Options) -> Workload:
    """Add limits of the options to those of the networks. Of two for one network the stricter
    holds.

    Raises:
        WorkloadError: on a network that is not there, or one that may have more late responses than
            it has releases.
    """
    for network in workload.networks:
        for name, most in options.max_misses:
            if name == network.name:
                check_max_misses(network, most, as_written("max_misses"))
    limits = {name: strictest(name, options, workload) for name in NETWORK_LIMITS}
    return replace(
        workload,
        networks=tuple(
            replace(
                network,
                **{
                    name: FIELDS[name].strictest(
                        (getattr(network, name), limits[name].get(network.name))
                    )
                    for name in NETWORK_LIMITS
                },
            )
            for network in workload.networks
        ),
    )


def strictest(name: str, options: Options, workload: Workload) -> dict[str, Any]:
    """Return the strictest value of a limit for each network that the options limit.

    Raises:
        WorkloadError: on a network that is not there.
    """
    given = getattr(options, name)
    check_names(name, dict(given), workload)
    return {
        network.name: FIELDS[name].strictest(
            value for owner, value in given if owner in (None, network.name)
        )
        for network in workload.networks
    }
