"""The way from networks and this machine to a platform file and a profile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paretosoc.common.tables import csv_text
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, build_problem, cost_origins
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.sub_models import write_sub_models
from paretosoc.dse.tools.host.measure.host_documents import (
    PLATFORM,
    UNKNOWN,
    demands_of,
    host_figures,
    platform_document,
    profile_document,
    sweep_of,
)
from paretosoc.dse.tools.host.measure.measuring import Measured, measure
from paretosoc.dse.tools.host.measure.memory_rates import range_of
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.profiles.profile_document import document_bytes
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.io.atomic_folder import FolderKind
from paretosoc.results.io.optional import optional_import

PLATFORM_FILE, PROFILE_FILE, SWEEP_FILE = "platform.json", "profile.json", "sweep.csv"


class _ProfileFolder(FolderKind):
    """A folder of measurements. An empty one is taken as it is."""

    def check(self, folder: Path, *, overwrite: bool) -> None:
        """Accept a folder that is missing, is empty or, with ``overwrite``, holds a profile alone.

        Raises:
            ResultError: as :meth:`OwnFolder.check`.
        """
        empty = folder.is_dir() and not any(folder.iterdir())
        super().check(folder, overwrite=overwrite or empty)


PROFILE_FOLDER = _ProfileFolder(frozenset((PLATFORM_FILE, PROFILE_FILE, SWEEP_FILE)))


@dataclass(frozen=True, eq=False)
class HostProfile:
    """Measurements, and the files that contain them."""

    built: BuiltProblem
    measured: Measured
    demand_gbps: tuple[tuple[float, ...], ...]
    files: dict[str, bytes]
    source: str


def profile_host(
    networks: Sequence[str],
    units: Sequence[HostUnit],
    host: Host,
    options: Options,
    *,
    frames: int,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
) -> HostProfile:
    """Measure networks on this machine.

    Args:
        networks: names or files, each once at a size.
        options: the grouping, and sizes of dynamic dimensions and batches.
        frames: how often each group is measured in each setting.

    Raises:
        WorkloadError, GraphError, PlatformError, ResultError: on input that cannot be used, or if
            ONNX Runtime is missing or fails.
    """
    runtime = optional_import("onnxruntime", extra="host", purpose="measuring on this machine")
    built = draft_problem(workload_from(networks), units, host, options)
    load = os.getloadavg()[0]
    with temporary_folder() as folder:
        say("cutting the networks")
        models = write_sub_models(built.problem, cost_origins(built), folder, seed=seed)
        say("loading them")
        with HostMachine(units, models, slots=1) as machine:
            measured = measure(machine, built.problem, frames=frames, say=say)
    random = sum(models.random_weights)
    source = (
        f"dse profile on {host.processor}: ONNX Runtime {runtime.__version__}, "
        f"{len(units[0].cores)} thread{'s' * (len(units[0].cores) > 1)} per unit, processes "
        f"pinned; medians over {frames} frames; load average {load:.2f} before, cores taken by "
        f"others for {measured.lost_share:.1%} of the time; all units at once read "
        f"{range_of(measured.together_gbps)} GB/s"
        + (f"; {random} weights random (seed {seed})" if random else "")
    )
    return host_profile(built, measured, units, host, source)


def draft_problem(
    workload: Workload, units: Sequence[HostUnit], host: Host, options: Options
) -> BuiltProblem:
    """Return the problem whose groups are to be measured, with placeholder costs.

    Raises:
        WorkloadError: if a network is listed twice at one size, or on what is no network, else as
            ``build_problem``.
    """
    for network in workload.networks:
        if network.is_task:
            kind = "dataflow graph" if network.is_graph else "task"
            raise WorkloadError(
                f"{network.name!r} is a {kind}, whose times are in its file: there is no model to "
                "measure; name networks alone"
            )
    sized = [(each.source, each.dimensions, each.batch) for each in workload.networks]
    for one in sized:
        if sized.count(one) > 1:
            raise WorkloadError(f"network {one[0]!r}: each is measured once, got it twice")
    chip = _load(json.dumps(platform_document(host, units, UNKNOWN)).encode())
    return build_problem(workload, chip, options)


def host_profile(
    built: BuiltProblem, measured: Measured, units: Sequence[HostUnit], host: Host, source: str
) -> HostProfile:
    """Return the files of the measurements, after reading them back."""
    problem, networks = built.problem, built.networks
    demands = demands_of(measured, _bytes_moved(built))
    figures = host_figures(measured, problem, networks, demands, host, units, source)
    text = json.dumps(platform_document(host, units, figures), indent=1).encode() + b"\n"
    chip = _load(text)
    document = profile_document(chip, problem, networks, measured, demands, source)
    profile = document_bytes(document)
    read_profile(profile, chip, PROFILE_FILE)
    files = {PLATFORM_FILE: text, PROFILE_FILE: profile}
    if measured.co_runs:
        sweep = sweep_of(measured.co_runs, demands)
        rows = zip(sweep.own, sweep.external, sweep.slowdown, strict=True)
        texts = ([f"{value:.6g}" for value in row] for row in rows)
        heads = ("own_gbps", "external_gbps", "slowdown")
        files[SWEEP_FILE] = csv_text(heads, texts).encode()
    return HostProfile(built, measured, demands, files, source)


def _bytes_moved(built: BuiltProblem) -> list[int]:
    """Return [groups]: bytes by the estimate, demand x time."""
    moved = []
    for table in built.costs:
        unit = table.units[0]
        for time, demand in zip(unit.time_ps.ravel(), unit.demand_kbps.ravel(), strict=True):
            moved.append(int(time) * int(demand) // 10**9)
    return moved


def _load(text: bytes) -> Platform:
    with temporary_folder() as folder:
        path = folder / PLATFORM_FILE
        path.write_bytes(text)
        return replace(load_platform(path), name=PLATFORM)
