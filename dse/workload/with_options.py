"""Workloads as the options change them: variants, sizes, scenarios, releases and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import gcd, lcm
from typing import Any

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import (
    FIELDS,
    MAX_RELEASES,
    NETWORK_LIMITS,
    Options,
    Scenario,
    as_written,
)
from paretosoc.dse.workload.variants import check_names, with_variants
from paretosoc.dse.workload.workload import (
    MAX_FRAMES_IN_FLIGHT,
    Workload,
    WorkloadNetwork,
    with_unique_names,
)
from paretosoc.dse.workload.workload_check import check_workload


def period_of_rates_s(networks: Sequence[WorkloadNetwork]) -> Fraction | None:
    """Return the shortest period in which every rate has whole releases, or None without rates."""
    rates = [network.release_rate_hz for network in networks]
    periods = [1 / rate for rate in rates if rate is not None]
    if not periods:
        return None
    return Fraction(lcm(*(p.numerator for p in periods)), gcd(*(p.denominator for p in periods)))


def with_releases(workload: Workload) -> Workload:
    """Return the workload with as many repeats of a network that has a rate as it has releases in
    the period.

    Raises:
        WorkloadError: if these are more than ``MAX_RELEASES``, or more of them may be late than
            there are.
    """
    period = period_of_rates_s(workload.networks)
    if period is None:
        return workload
    networks = []
    for network in workload.networks:
        rate = network.release_rate_hz
        if rate is not None:
            releases = int(period * rate)
            if releases > MAX_RELEASES:
                given = float(rate * network.batch)
                raise WorkloadError(
                    f"network {network.name!r}: rate_hz {given:g} is {releases} "
                    f"releases in the period of all rates, {float(period):g} s; at most "
                    f"{MAX_RELEASES} are possible: choose rates that divide each other"
                )
            network = replace(network, repeats=releases)
        check_max_misses(network, network.max_misses, "max_misses")
        networks.append(network)
    return replace(workload, networks=tuple(networks))


def check_max_misses(network: WorkloadNetwork, most: int | None, field: str) -> None:
    """Check that a limit of late responses can be broken, or permits all to be late.

    Args:
        network: network with releases as repeats.
        field: source of the limit, for messages.

    Raises:
        WorkloadError: if it is more than the network has releases.
    """
    releases = 1 if network.rate_hz is None else network.repeats
    if most is not None and most > releases:
        raise WorkloadError(
            f"network {network.name!r}: {field} must be at most {releases}, its releases in the "
            f"period of all rates, got {most}"
        )


def apply_scenario(workload: Workload, scenario: Scenario) -> Workload:
    """Return the workload as a scenario of HaX-CoNN, 5.1 and 5.2, changes it.

    * ``INSTANCES``: one network, which becomes two if it is single. All start with the frame, each
      has a mapping of its own.
    * ``SAME_INPUT``: no change, since networks on a command line share the input.
    * ``STREAM``: every network waits for the one before it in the same frame, and as many frames
      are in flight as there are networks.

    Hybrids (scenario 4) are written as workload files: networks that wait for others, and beside
    them some that do not.

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
    colon come first, and its copies. They override its own sizes, those of one network override
    those of all, and those of one copy these."""
    if not sizes:
        return workload
    names = {network.name for network in workload.networks}
    parts = [(*key.partition(":"), key, size) for key, size in sizes]
    shared = {key: size for name, _, rest, key, size in parts if not (name in names and rest)}
    named = [(name, (rest, size)) for name, _, rest, _, size in parts if rest]

    def given(network: WorkloadNetwork) -> dict[str, int]:
        if network.is_task:
            return {}
        own = dict(chain(*network.values_of(named)))
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
        _, *own = network.values_of(options.max_misses)
        for most in chain(*own):
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
    check_names(as_written(name), dict(given), workload.names)
    return {
        network.name: FIELDS[name].strictest(chain(*network.values_of(given)))
        for network in workload.networks
    }
