"""From the texts of the command line to options and workloads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import (
    Options,
    ThroughputModel,
    parse_fixed,
    parse_pin,
    parse_positive,
)
from paretosoc.dse.workload.per_network import (
    BATCH,
    DEADLINE,
    DEADLINE_95,
    MAX_JITTER,
    MAX_LOSS,
    MAX_MISSES,
    MEMORY_CAP,
    MIN_RATE,
    in_whole,
)
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.results.problem.execution import IdleTime


def make_options(
    *,
    objective: Sequence[str] | None,
    groups: int | None,
    branches: bool,
    each_layer: bool,
    max_transitions: int | None,
    units: str | None,
    fix: Sequence[str] | None,
    precision: str | None,
    power_cap: str | None,
    energy_budget: str | None,
    deadline: Sequence[str] | None,
    fps: str | None,
    pin: Sequence[str] | None,
    deadline_95: Sequence[str] | None = None,
    max_jitter: Sequence[str] | None = None,
    max_misses: Sequence[str] | None = None,
    min_rate: Sequence[str] | None = None,
    max_accuracy_loss: Sequence[str] | None = None,
    memory_cap: Sequence[str] | None = None,
    throughput_model: ThroughputModel = ThroughputModel.TIMELINE,
    pipeline_time: IdleTime = IdleTime.PERIOD,
    free_running: bool = False,
    frames_in_flight: int | None = None,
    search_priorities: bool = False,
) -> Options:
    """Return options from texts, None for an option that was not given.

    Raises:
        WorkloadError: on the first text that does not have the form required.
    """
    objectives = tuple(objective or ())
    names = None
    if units is not None:
        names = tuple(name.strip() for name in units.split(",") if name.strip())
        if not names:
            raise WorkloadError(f"--units: at least one unit is required, got {units!r}")
    return Options(
        objectives=objectives,
        groups=groups,
        branches=branches,
        each_layer=each_layer,
        max_transitions=max_transitions,
        units=names,
        fixed=_fixed_once(fix or ()),
        precision=precision,
        memory_caps_mb=MEMORY_CAP.parse_all(memory_cap),
        power_cap_w=None if power_cap is None else parse_positive(power_cap, "--power-cap"),
        energy_budget_mj=(
            None if energy_budget is None else parse_positive(energy_budget, "--energy-budget")
        ),
        deadlines_ms=DEADLINE.parse_all(deadline),
        deadlines_95_ms=DEADLINE_95.parse_all(deadline_95),
        max_jitters_ms=MAX_JITTER.parse_all(max_jitter),
        max_misses=in_whole(MAX_MISSES.parse_all(max_misses)),
        max_losses_percent=MAX_LOSS.parse_all(max_accuracy_loss),
        min_rates_hz=MIN_RATE.parse_all(min_rate),
        frames_per_second=None if fps is None else parse_positive(fps, "--fps"),
        pins=tuple(parse_pin(text) for text in pin or ()),
        throughput_model=throughput_model,
        pipeline_time=pipeline_time,
        free_running=free_running,
        frames_in_flight=frames_in_flight,
        search_priorities=search_priorities,
    )


def parse_dimensions(texts: Sequence[str] | None) -> tuple[tuple[str, int], ...]:
    """Parse sizes of dynamic dimensions, ``NAME=N`` each.

    Raises:
        WorkloadError: on any other form, or a size below 1.
    """
    sizes = []
    for text in texts or ():
        name, equals, size = text.rpartition("=")
        if not (equals and name and re.fullmatch(r"[0-9]{1,9}", size)) or int(size) < 1:
            raise WorkloadError(f"--dim: NAME=N with N from 1 is required, got {text!r}")
        sizes.append((name, int(size)))
    return tuple(sizes)


def with_dimensions(workload: Workload, texts: Sequence[str] | None) -> Workload:
    """Return the workload with such sizes for all its networks, or for the one whose name and a
    colon come first. They override its own sizes, and those of one network override those of all.

    Raises:
        WorkloadError: as :func:`parse_dimensions`.
    """
    sizes = parse_dimensions(texts)
    if not sizes:
        return workload
    names = {network.name for network in workload.networks}
    parts = [(*key.partition(":"), key, size) for key, size in sizes]
    shared = {key: size for name, _, rest, key, size in parts if not (name in names and rest)}

    def given(network: WorkloadNetwork) -> dict[str, int]:
        own = {rest: size for name, _, rest, _, size in parts if name == network.name and rest}
        return {**dict(network.dimensions), **shared, **own}

    return replace(
        workload,
        networks=tuple(
            replace(network, dimensions=tuple(given(network).items()))
            for network in workload.networks
        ),
    )


def with_batches(workload: Workload, texts: Sequence[str] | None) -> Workload:
    """Return the workload with such batches: ``N`` for all its networks, ``NETWORK=N`` for one of
    them, which wins.

    Raises:
        WorkloadError: on any other form, or a network that is not there.
    """
    names = [network.name for network in workload.networks]
    batches = dict(in_whole(BATCH.parse_all(texts)))
    for name in batches:
        if name is not None and name not in names:
            raise WorkloadError(
                f"--batch: there is no network {name!r} in the workload "
                f"(there are {', '.join(names)})"
            )
    return replace(
        workload,
        networks=tuple(
            replace(network, batch=batches.get(network.name, batches.get(None, network.batch)))
            for network in workload.networks
        ),
    )


def _fixed_once(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return domains and their clocks, each domain at most once."""
    fixed = tuple(parse_fixed(text) for text in texts)
    for index, (domain, value) in enumerate(fixed):
        for earlier, other in fixed[:index]:
            if earlier == domain and other != value:
                raise WorkloadError(
                    f"--fix: one clock for each domain is required, got {domain}={other} and "
                    f"{domain}={value}"
                )
    return fixed
