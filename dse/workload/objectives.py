"""Objectives by name, and the default objectives of a workload."""

from __future__ import annotations

from dataclasses import replace

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import Options, Scenario, as_written
from paretosoc.dse.workload.variants import check_names
from paretosoc.dse.workload.with_options import period_of_rates_s
from paretosoc.dse.workload.workload import Workload
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, kind_named, kinds_by_name

OF_A_FRAME, OF_RATES = ("latency", "energy"), ("relative-response", "power")
OF_FREE_RUNNING, OF_A_STREAM = ("throughput", "energy"), ("throughput", "latency")
WITHOUT_POWER: dict[tuple[str, ...], tuple[str, ...]] = {
    OF_A_FRAME: ("latency", "throughput"),
    OF_RATES: ("relative-response",),
    OF_FREE_RUNNING: ("throughput", "fairness"),
}
"""In place of those that are 0 where no power is known."""


def with_default_objectives(
    options: Options, workload: Workload, *, knows_power: bool = True
) -> Options:
    """Return options with the objectives of the workload if none were asked for.

    Raises:
        WorkloadError: if objectives of a stream were asked for, but not its throughput.
    """
    is_stream = options.scenario is Scenario.STREAM
    if options.objectives:
        if is_stream and ObjectiveKind.THROUGHPUT.value not in options.objectives:
            asked = as_written("scenario", Scenario.STREAM.value)
            raise WorkloadError(
                f"{asked}: throughput is required among the objectives (frames in flight matter to "
                f"nothing else), got {', '.join(options.objectives)}"
            )
        return options
    if is_stream:
        return replace(options, objectives=OF_A_STREAM)
    if options.free_running or workload.free_running:
        found = OF_FREE_RUNNING
    else:
        has_rates = period_of_rates_s(workload.networks) is not None
        found = OF_RATES if has_rates else OF_A_FRAME
    return replace(options, objectives=found if knows_power else WITHOUT_POWER[found])


def parse_objective(text: str, network_names: tuple[str, ...]) -> Objective:
    """Parse an objective: ``latency``, ``latency:NETWORK``, ``inverse-latency``,
    ``throughput``, ``energy``, ...

    An objective that always belongs to one network may be given without it. It is then that of the
    only network that continues another (:func:`dse.problem.build.build_problem`).

    Raises:
        WorkloadError: on an unknown name. The nearest names are suggested.
    """
    kind, colon, network = text.partition(":")
    found = kind_named(kind)
    if found is None or (colon and not found.spec.of_one_network):
        kinds = kinds_by_name()
        raise WorkloadError(
            f"objective {text!r} is not known ({did_you_mean(kind, kinds)}; these take :NETWORK: "
            f"{', '.join(name for name, kind in kinds.items() if kind.spec.of_one_network)})"
        )
    if not colon:
        return Objective(found)
    check_names(f"objective {text!r}", [network], network_names)
    return Objective(found, network_names.index(network))
