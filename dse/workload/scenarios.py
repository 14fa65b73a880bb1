"""The scenarios of HaX-CoNN, 5.1 and 5.2, as workloads.

Hybrids (scenario 4) are written as workload files: networks that wait for others, and beside them
some that do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import MAX_FRAMES_IN_FLIGHT, Scenario, as_written
from paretosoc.dse.workload.workload import Workload, with_unique_names
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
