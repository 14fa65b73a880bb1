"""Decisions whose truth is published: mappings of networks, and clocks of one network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import paretosoc as dse
from benchmarks.accuracy import table2
from benchmarks.validation.clock_sets import BOARDS_NETWORK, board_subjects
from benchmarks.validation.published import read_set
from examples.hax.published import standalone_ms
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.problem.build import cost_origins
from paretosoc.dse.tools.analysis.cost_draws import CostErrors, same_errors, stated_errors
from paretosoc.fitness.costs.standard_errors import IDLE_POWER, calibrated
from paretosoc.results.front.front import Front
from paretosoc.results.problem.problem import Problem

GOALS = ("fastest", "knee", "lowest-energy")
_EVALUATIONS = 2000
_MOST_MEMBERS = 40


@dataclass(frozen=True, eq=False)
class Case:
    """A front by the program's estimates, and the problem as it really is."""

    name: str
    front: Front
    errors: CostErrors
    truth: Problem
    has_power: bool = False


def cases() -> list[Case]:
    """Return all cases."""
    return [build() for build in BUILDERS]


def _mapped(
    source: str, platform: str, networks: Sequence[str], published: Mapping[tuple[str, str], float]
) -> Case:
    """Return the mapping of whole networks on units, by times at the fastest clocks.

    Args:
        published: milliseconds by network and unit.
    """
    units = list(dict.fromkeys(unit for _, unit in published))
    problem = dse.Problem(list(networks), platform, units=",".join(units), groups=1)
    found = dse.explore(problem, "nsga2", max_evaluations=_EVALUATIONS)
    front = _fewer(found.numeric)
    truth = front.problem
    tables = []
    for unit in truth.units:
        times = unit.time_ps.astype(np.float64)
        for network in truth.networks:
            (g,) = network.groups
            fastest = times[g].reshape(-1)[-1]
            times[g] *= 1e9 * published[network.name, unit.name] / fastest
        tables.append(replace(unit, time_ps=np.rint(times).astype(np.int64)))
    name = f"{', '.join(networks)} on {platform} ({source})"
    # The truth has the estimate's exponents of clocks.
    errors = _as_published(replace(found.stated_errors, clock=0 * found.stated_errors.clock))
    return Case(name, front, errors, replace(truth, units=tuple(tables)))


def _as_published(errors: CostErrors, *, has_power: bool = False) -> CostErrors:
    """Return errors without those of costs that nobody published, which the truth does not have:
    of what networks do to each other, and of powers unless they were measured."""
    known = replace(errors, demand=0.0, sharing=0.0)
    return known if has_power else replace(known, power=0 * known.power, idle=0.0)


def _fewer(front: Front) -> Front:
    """Return at most so many members, evenly along the front: all policies choose among these."""
    count = len(front.members)
    kept = np.unique(np.linspace(0, count - 1, min(count, _MOST_MEMBERS)).astype(int))
    return replace(front, members=tuple(front.members[k] for k in kept))


def _hax(platform: str, networks: Sequence[str]) -> Callable[[], Case]:
    def build() -> Case:
        short = "xavier" if platform.endswith("xavier") else "orin"
        table = standalone_ms(short)
        published: dict[tuple[str, str], float] = {}
        for name in networks:
            gpu, dla = table[name]
            assert dla is not None, "both units have a figure"
            published |= {(name, "gpu"): gpu, (name, "dla0"): dla}
        return _mapped("HaX-CoNN, Table 5", platform, networks, published)

    return build


def _by_unit(
    platform: str, networks: Sequence[str], sources: Mapping[str, str], precision: str
) -> Callable[[], Case]:
    """Return what reads times by unit: the file of each unit."""

    def build() -> Case:
        published = {}
        for unit, source in sources.items():
            for row in read_set(source).rows:
                if (row["platform"], row["unit"], row["precision"]) == (platform, unit, precision):
                    published[str(row["network"]), unit] = float(row["latency"])
        kept = {key: ms for key, ms in published.items() if key[0] in networks}
        return _mapped(" and ".join(dict.fromkeys(sources.values())), platform, networks, kept)

    return build


def _on_clocks(
    name: str,
    platform: str,
    network: str,
    axes: Sequence[str],
    rows: Sequence[tuple[float, ...]],
    *,
    precision: str | None = None,
    is_calibrated: bool = False,
) -> Case:
    """Return the clocks of one network on the GPU.

    Args:
        axes: the domains whose clocks vary; the others are at their fastest.
        rows: MHz of each, milliseconds, and the board's watts or 0. Figures count for the nearest
            clock of the platform.
        precision: None takes the platform's default.
        is_calibrated: the estimate is scaled to the time at the fastest clocks first.
    """
    made = dse.Problem([network], platform, units="gpu", groups=1, precision=precision).built
    problem = made.problem
    domains = [domain.name for domain in problem.domains]
    fastest = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    known: dict[tuple[int, ...], tuple[float, float]] = {}
    for *mhz, ms, watts in rows:
        points = list(fastest)
        for axis, value in zip(axes, mhz, strict=True):
            ladder = np.array(problem.domains[domains.index(axis)].frequencies_khz)
            points[domains.index(axis)] = int(np.argmin(np.abs(ladder - 1000 * value)))
        known[tuple(points)] = ms, watts
    unit, errors = problem.units[0], stated_errors(problem, cost_origins(made))
    if is_calibrated:
        ratio = 1e9 * known[tuple(fastest)][0] / unit.time_ps[0].reshape(-1)[-1]
        unit = replace(unit, time_ps=np.rint(unit.time_ps * ratio).astype(np.int64))
        problem = replace(problem, units=(unit,))
        errors = same_errors(problem, calibrated(1, ()), idle=IDLE_POWER / 1000)
    times, powers = unit.time_ps.copy(), unit.dynamic_mw.copy()
    for place, (ms, watts) in known.items():
        at = tuple(place[d] for d in unit.clocks)
        times[(0, *at)] = round(1e9 * ms)
        if watts:
            powers[(0, *at)] = max(1, round(1000 * watts) - _idle_mw(problem, place))
    truth = replace(problem, units=(replace(unit, time_ps=times, dynamic_mw=powers),))
    front = seed_front(problem, np.array([[0, *points] for points in sorted(known)]), engine="grid")
    has_power = any(w for _, w in known.values())
    errors = _as_published(errors, has_power=has_power)
    return Case(name, _fewer(front), errors, truth, has_power=has_power)


def _idle_mw(problem: Problem, points: Sequence[int]) -> int:
    power = problem.board_mw + sum(
        int(domain.static_mw[point]) for domain, point in zip(problem.domains, points, strict=True)
    )
    return power + sum(int(u.idle_mw[tuple(points[d] for d in u.clocks)]) for u in problem.units)


def _grid(source: str, row: str, platform: str, network: str) -> Callable[[], Case]:
    def build() -> Case:
        rows = [
            (float(r["gpu"]), float(r["memory"]), float(r["latency"]), 0.0)
            for r in read_set(source).rows
            if r["network"] == row
        ]
        title = f"{network} over GPU and memory clocks of {platform}"
        return _on_clocks(title, platform, network, ("gpu", "emc"), rows)

    return build


def _board(board: str, batch: int) -> Callable[[], Case]:
    """Return a board of LoudVA, or AGX Xavier: Inception-v3 in FP32."""

    def build() -> Case:
        ((subject, energies),) = board_subjects({board: (batch,)})
        mhz = np.array([dse.platform(f"jetson-{board}").domain_by_name["gpu"].frequencies_khz[-1]])
        rows = [
            (float(mhz[0] / 1000 / x), float(ms), float(mj / ms))
            for x, ms, mj in zip(subject.clocks.own, subject.measured_ms, energies, strict=True)
        ]
        title = f"batch {batch} over GPU clocks of jetson-{board}, measured power"
        return _on_clocks(
            title,
            f"jetson-{board}",
            BOARDS_NETWORK,
            ("gpu",),
            rows,
            precision="fp32",
            is_calibrated=True,
        )

    return build


def _tang(network: str) -> Callable[[], Case]:
    def build() -> Case:
        chip = dse.platform(table2.PLATFORM)
        rows = []
        for entry in table2.published()[network]:
            points = entry.measurement.points
            clocks = chip.unit_by_name["gpu"].clocks
            mhz = [
                chip.domain_by_name[name].frequencies_khz[point] / 1000
                for name, point in zip(clocks, points, strict=True)
            ]
            rows.append((*mhz, 1000 / entry.fps, entry.mj * entry.fps / 1000))
        title = f"{network} over GPU and CPU clocks of jetson-tx2, measured power"
        return _on_clocks(title, table2.PLATFORM, network, clocks, rows)

    return build


CPUS = {"a76": "ncnn_cpu", "a55": "ncnn_cpu"}
ORIN = "jetson-agx-orin"
BUILDERS: tuple[Callable[[], Case], ...] = (
    _hax(ORIN, ("googlenet", "resnet50", "vgg19")),
    _hax(ORIN, ("resnet101", "inception_v4", "densenet121")),
    _hax(ORIN, ("caffenet", "resnet152", "resnet18")),
    _hax(ORIN, ("inception_resnet_v2", "densenet121", "vgg19")),
    _by_unit("rk3588", ("resnet50", "googlenet", "mobilenet_v1", "vgg16"), CPUS, "fp16"),
    _by_unit("rk3588", ("alexnet", "efficientnet_b0", "squeezenet1_1"), CPUS, "fp16"),
    _by_unit("rk3588", ("mnasnet1_0", "resnet18", "mobilenet_v3_large"), CPUS, "fp16"),
    _grid("tx2_gpu_memory", "vgg19", "jetson-tx2", "vgg19"),
    _grid("tx2_gpu_memory", "resnet", "jetson-tx2", "resnet50"),
    _grid("orin_nano_gpu_memory", "mobilenet", "jetson-orin-nano-8gb", "mobilenet_v2"),
    *map(_tang, table2.published()),
    _board("xavier-nx", 1),
    _board("nano", 1),
    _board("agx-xavier", 1),
)
