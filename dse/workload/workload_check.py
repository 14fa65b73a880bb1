"""Checks of a workload, whether it came from a file, the command line or a program."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from paretosoc.common.files import naming
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.fields import Fits
from paretosoc.dse.workload.options import FIELDS, NETWORK_LIMITS
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.results.problem.arithmetic import MAX_PRIORITY
from paretosoc.results.problem.execution import MAX_BATCH

_RANGES: tuple[tuple[str, int, int | None], ...] = (
    *(("repeats", 1, None), ("arrival_ms", 0, None), ("jitter_ms", 0, None)),
    *(("priority", 0, MAX_PRIORITY), ("batch", 1, MAX_BATCH)),
)
_ABOVE_0 = ("rate_hz", "deadline_ms", "deadline_95_ms", "min_rate_hz")


def check_workload(workload: Workload) -> None:
    """Accept workloads whose networks have names of their own and can all start.

    Raises:
        WorkloadError: on a name that is there twice, a network that waits for one that is not
            there, waiting in a circle (which is named), or a figure out of its range.
    """
    if not workload.networks:
        raise WorkloadError("networks: at least one is needed, got none")
    names = list(workload.names)
    has_rates = any(network.rate_hz is not None for network in workload.networks)
    for index, network in enumerate(workload.networks):
        with naming(network.title, WorkloadError):
            if network.name in names[:index]:
                raise WorkloadError("the name is there twice")
            _check_network(network, names, free_running=workload.free_running)
            _check_rates(network, has_rates=has_rates)
    _check_waiting(workload)
    for network in workload.networks:
        with naming(network.title, WorkloadError):
            _check_phase(network, {entry.name: entry for entry in workload.networks})


def _check_network(network: WorkloadNetwork, names: list[str], *, free_running: bool) -> None:
    for other in network.waits_for:
        if other not in names:
            raise WorkloadError(
                f"waits for {other!r}, which is not in the workload (there are {', '.join(names)})"
            )
    for field, least, most in _RANGES:
        value = getattr(network, field)
        if value < least or (most is not None and value > most):
            bound = f"at least {least}" if value < least else f"at most {most}"
            raise WorkloadError(f"{field} must be {bound}, got {value}")
    for field in ("rate_hz", *NETWORK_LIMITS):
        value = getattr(network, field)
        if not isinstance(value, str | None) and (value < 0 or (value == 0 and field in _ABOVE_0)):
            bound = "above 0" if field in _ABOVE_0 else "at least 0"
            raise WorkloadError(f"{field} must be {bound}, got {value}")
    if network.jitter_ms and network.rate_hz is None:
        raise WorkloadError("jitter_ms needs rate_hz")
    if network.rate_hz is not None and network.repeats > 1:
        raise WorkloadError("rate_hz excludes repeats")
    if network.is_task and (network.batch > 1 or network.continues is not None):
        raise WorkloadError("batch and continues are of networks")
    if network.batch > 1 and (network.grows or network.continues is not None):
        raise WorkloadError(
            "batch excludes grows and continues: the phases of a language model answer one prompt"
        )
    check_variants(network, counts_images=free_running or network.rate_hz is not None)
    for pin in network.pins:
        if pin.first < 0 or (pin.last is not None and pin.last < pin.first):
            raise WorkloadError(
                f"a pin must lead from a group to the same or a later one, got {pin.first} to "
                f"{pin.last}"
            )


def check_variants(network: WorkloadNetwork, *, counts_images: bool) -> None:
    """Check that variants can be told apart and compared.

    Raises:
        WorkloadError: if they cannot. The message does not name the network.
    """
    names = [variant.name for variant in network.variants]
    for name in names:
        if names.count(name) > 1:
            raise WorkloadError(f"variants: names must be unique, got {name!r} twice")
    if names and network.continues is not None:
        raise WorkloadError("variants exclude continues")
    if network.min_accuracy_percent is not None and not names:
        raise WorkloadError("min_accuracy_percent needs variants")
    unknown = [variant.name for variant in network.variants if variant.accuracy is None]
    if unknown and len(unknown) < len(names):
        raise WorkloadError(
            "variants: accuracy_percent of all or of none is required, got none of "
            f"{', '.join(unknown)}"
        )
    if len({variant.batch for variant in network.variants}) > 1 and not counts_images:
        raise WorkloadError(
            "variants: batches differ, which needs rate_hz of the network, or free_running: frames "
            "of different batches are different work"
        )
    metrics = {v.accuracy.metric for v in network.variants if v.accuracy and v.accuracy.metric}
    if len(metrics) > 1:
        raise WorkloadError(
            f"variants: accuracies are not comparable: {', '.join(sorted(metrics))}"
        )


def _check_rates(network: WorkloadNetwork, *, has_rates: bool) -> None:
    """Check that limits of responses have rates, and that phases of one model have none."""
    if has_rates and network.continues is not None:
        raise WorkloadError(
            "continues excludes rate_hz, of other networks, too: phases are of one frame, in which "
            "others can have repeats"
        )
    if network.reads_mb and (has_rates or network.repeats > 1):
        other = "rate_hz (of networks)" if has_rates else "repeats"
        raise WorkloadError(f"reads_mb excludes {other}: waits_for is possible")
    for field in NETWORK_LIMITS:
        needs_rates = FIELDS[field].fits is Fits.RATES
        if needs_rates and getattr(network, field) is not None and not has_rates:
            raise WorkloadError(f"{field} is of responses: rate_hz is required of a network")


def _check_waiting(workload: Workload) -> None:
    waiting = {network.name: network.waits_for for network in workload.networks}
    try:
        TopologicalSorter(waiting).prepare()
    except CycleError as error:
        # graphlib lists each network before one that waits for it.
        circle = error.args[1][::-1]
        links = ", ".join(f"{name!r} for {other!r}" for name, other in pairwise(circle))
        raise WorkloadError(f"waits_for: networks wait in a circle: {links}") from None


def _check_phase(network: WorkloadNetwork, entries: dict[str, WorkloadNetwork]) -> None:
    """Check that phases belong to one model, follow each other, and have sizes if they grow."""
    sizes = dict(network.dimensions)
    for name, step in network.grows:
        if step < 1:
            raise WorkloadError(f"grows: {name!r} must grow by at least 1, got {step}")
        if name not in sizes:
            raise WorkloadError(
                f"grows: {name!r} needs a size at the first repeat in dimensions (there are "
                f"{', '.join(sizes) or 'none'})"
            )
    if network.continues is None:
        return
    start, earlier = f"continues {network.continues!r}", entries.get(network.continues)
    if earlier is None or earlier.name not in network.waits_for:
        raise WorkloadError(f"{start}, which it must wait for")
    if earlier.source != network.source:
        raise WorkloadError(
            f"{start}, which must be the same model, got {network.source!r} after "
            f"{earlier.source!r}"
        )
    if earlier.batch > 1:
        raise WorkloadError(
            f"{start}, whose batch must be 1, got {earlier.batch}: the phases of a language model "
            "answer one prompt"
        )
    if not network.grows:
        raise WorkloadError(f"{start}: grows must say which dimension is the length of the cache")
