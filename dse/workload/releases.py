"""Networks with rates of their own: how often each is released in the period of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import MAX_RELEASES
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork


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
        most: the limit.
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
