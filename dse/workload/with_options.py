"""Workloads as the options and the scenario change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import (
    FIELDS,
    MAX_FRAMES_IN_FLIGHT,
    NETWORK_LIMITS,
    Options,
    Scenario,
    as_written,
)
from paretosoc.dse.workload.releases import check_max_misses
from paretosoc.dse.workload.variants import check_names, with_variants
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork, with_unique_names
from paretosoc.dse.workload.workload_check import check_workload


def apply_scenario(workload: Workload, scenario: Scenario) -> Workload:
    """Return the workload as the scenario changes it.

    * ``INSTANCES``: one network, which becomes two if it is single. All start with the frame, each
      has a mapping of its own.
    * ``SAME_INPUT``: no change, since networks on a command line share the input.
    * ``STREAM``: every network waits for the one before it in the same frame, and as many frames
      are in flight as there are networks.

    Raises:
        WorkloadError: if the workload has too few or different networks for that, or already
            defines which network waits for which.
    """
    networks = workload.networks
    waiting = [network.name for network in networks if network.waits_for]
    if waiting:
        raise WorkloadError(
            f"{_asked(scenario)}: {waiting[0]!r} waits for others already; a workload "
            "file with waits_for is a scenario of its own"
        )
    match scenario:
        case Scenario.INSTANCES:
            sources = sorted({network.source for network in networks})
            if len(sources) > 1:
                raise WorkloadError(
                    f"{_asked(scenario)}: one network is required, got {', '.join(sources)}"
                )
            if len(networks) == 1:
                networks = with_unique_names([*networks, *networks])
        case Scenario.SAME_INPUT:
            _require_two(networks, scenario)
        case Scenario.STREAM:
            _require_two(networks, scenario)
            if len(networks) > MAX_FRAMES_IN_FLIGHT:
                raise WorkloadError(
                    f"{_asked(scenario)}: at most {MAX_FRAMES_IN_FLIGHT} networks are possible, "
                    f"one frame in flight for each, got {len(networks)}"
                )
            networks = tuple(
                replace(network, waits_for=(networks[i - 1].name,)) if i else network
                for i, network in enumerate(networks)
            )
            workload = replace(workload, frames_in_flight=len(networks))
    workload = replace(workload, networks=networks)
    check_workload(workload)
    return workload


def _asked(scenario: Scenario) -> str:
    return as_written("scenario", scenario.value)


def _require_two(networks: Sequence[object], scenario: Scenario) -> None:
    if len(networks) < 2:
        raise WorkloadError(
            f"{_asked(scenario)}: two networks or more are required, got {len(networks)}"
        )


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
