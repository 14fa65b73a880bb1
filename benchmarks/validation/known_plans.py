"""Co-runs whose plans are published: HaX-CoNN's artifact names the schedule of every time.

A row of ``hax_artifact_plans.json`` says for each network which unit it starts on and how many
convolutions and inner products it computes there. The rest is on the other unit. The plan is cut at
the nearest group, of as many as there are, simulated as TensorRT runs it (engines, and a GPU that
the two processes share), and read as the source reads its timers: the larger of the two networks'
times, or their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks.accuracy.transitions import as_delays
from benchmarks.validation.published import DataSet, read_set
from benchmarks.validation.scores import Comparison
from examples.hax.prediction import built_workload
from examples.hax.published import Experiment
from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.baselines.group_by_group import without_contention
from paretosoc.dse.problem.build import BuiltProblem
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.runtimes import Runtime
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind

DATA = "hax_artifact_plans"
PLATFORM = "jetson-agx-xavier"
PLANS = "HaX-CoNN's artifact, its own plans, time"
GUIDE = "HaX-CoNN's starter guide, its own plans, time"
TABLE6 = "HaX-CoNN's Table 6, the artifact's plans, time"
FACTORS = np.arange(100, 201) / 100
OVERHEADS = range(0, 601, 10)
"""Overheads of a shared GPU, in permille."""
_WEIGHTED = (LayerKind.CONVOLUTION, LayerKind.MATRIX_PRODUCT)


@dataclass(frozen=True)
class CoRun:
    """A published time and its plan, by network: the starting unit and the weighted layers on
    it."""

    source: str
    experiment: int
    scheduler: str
    networks: tuple[str, str]
    starts: tuple[str, str]
    weighted: tuple[int, int]
    is_sum: bool
    measured_ms: float


def co_runs_of(source: str, data: DataSet | None = None) -> list[CoRun]:
    """Return the co-runs of ``artifact`` or ``starter guide``."""
    found = []
    for row in (data or read_set(DATA)).rows:
        texts = [(str(row[f"network_{n}"]), str(row[f"start_{n}"])) for n in (1, 2)]
        found.append(
            CoRun(
                source=str(row["source"]),
                experiment=int(row["experiment"]),
                scheduler=str(row["scheduler"]),
                networks=(texts[0][0], texts[1][0]),
                starts=(texts[0][1], texts[1][1]),
                weighted=(int(row["weighted_1"]), int(row["weighted_2"])),
                is_sum=row["quantity"] == "sum",
                measured_ms=float(row["latency"]),
            )
        )
    return [run for run in found if run.source == source]


Change = Callable[[Problem], Problem]


def known_plans(table6: Sequence[Experiment]) -> list[Comparison]:
    """Compare times of given schedules: nothing fitted, the board's overhead of sharing, one
    parameter of other pairs, and as a check other plans."""
    artifact, guide = co_runs_of("artifact"), co_runs_of("starter guide")
    published = {row.number: row.published_ms for row in table6}
    paper = np.array([published[run.experiment][run.scheduler] for run in artifact])
    return [
        *_given(PLANS, artifact, _times(artifact)),
        *_other_plans(artifact),
        *_one_parameter(artifact),
        *_given(GUIDE, guide, _times(guide)),
        *_given(TABLE6, [replace(run, is_sum=False) for run in artifact], paper),
    ]


def _given(data: str, runs: Sequence[CoRun], measured: FloatArray) -> list[Comparison]:
    alone, free = "networks alone", sharing(0)
    laws: list[tuple[str, str, Change]] = [
        (alone, "no contention", _alone(free)),
        (alone, "with contention", free),
        ("also GPU only, by the board", "no contention", without_contention),
        ("also GPU only, by the board", "with contention", lambda problem: problem),
        ("also GPU only, by the board", "transitions as delays", as_delays),
    ]
    return [
        Comparison(data, fitted, law, "ms", predicted(runs, change), measured)
        for fitted, law, change in laws
    ]


def _other_plans(runs: Sequence[CoRun]) -> list[Comparison]:
    """Compare plans with times of the same pair's other plans: if they did as well, the agreement
    would say nothing of the plans."""
    swapped = [
        (run, replace(other, is_sum=run.is_sum))
        for run in runs
        for other in runs
        if other.experiment == run.experiment and other.scheduler != run.scheduler
    ]
    times = predicted([other for _, other in swapped], sharing(0))
    measured = _times([run for run, _ in swapped])
    return [Comparison(PLANS, "networks alone", "another plan of the pair", "ms", times, measured)]


def _one_parameter(runs: Sequence[CoRun]) -> list[Comparison]:
    """Compare laws of one parameter that is fitted to the other pairs."""
    whole = [replace(run, starts=("gpu", "gpu"), weighted=_ALL) for run in runs]
    tables = {
        "sum on the GPU x a factor": np.outer(FACTORS, predicted(whole, sharing(0))),
        "all times x a factor": np.outer(FACTORS, predicted(runs, sharing(0))),
        "GPU's times x a factor": _table(runs, [with_gpu_factor(one) for one in FACTORS]),
        "overhead, no contention": _table(runs, [_alone(sharing(o)) for o in OVERHEADS]),
        "overhead, with contention": _table(runs, [sharing(o) for o in OVERHEADS]),
        "overhead, transitions as delays": _table(runs, [_delayed(sharing(o)) for o in OVERHEADS]),
    }
    return [
        Comparison(PLANS, "the other pairs", law, "ms", left_out(runs, table), _times(runs))
        for law, table in tables.items()
    ]


_ALL = (10**6, 10**6)
"""Weighted layers of networks that stay on one unit."""


def predicted(runs: Sequence[CoRun], change: Change = lambda problem: problem) -> FloatArray:
    """Return [runs]: times of the plans in ms, on problems that are changed before."""
    times = np.zeros(len(runs))
    for networks in dict.fromkeys(run.networks for run in runs):
        places = [place for place, run in enumerate(runs) if run.networks == networks]
        built = built_pair(networks)
        rows = [_row(networks, runs[place].starts, runs[place].weighted) for place in places]
        outcomes = make_evaluator(change(built.problem))(np.stack(rows))
        for place, latency_ps in zip(places, outcomes.latency_ps, strict=True):
            times[place] = (latency_ps.sum() if runs[place].is_sum else latency_ps.max()) / 1e9
    return times


def _table(runs: Sequence[CoRun], changes: Sequence[Change]) -> FloatArray:
    """Return predictions [changes, runs]."""
    return np.stack([predicted(runs, change) for change in changes])


def left_out(runs: Sequence[CoRun], table: FloatArray) -> FloatArray:
    """Return [runs]: predictions by the row of a table [parameters, runs] that fits the other pairs
    best.

    It has the least sum of logarithmic errors over them.
    """
    errors = np.abs(np.log(table / _times(runs)))
    pairs = np.array([run.experiment for run in runs])
    best = [int(errors[:, pairs != pair].sum(axis=1).argmin()) for pair in pairs]
    return table[best, np.arange(len(runs))]


def _alone(change: Change) -> Change:
    """Return a change of a problem after which no unit slows another."""
    return lambda problem: without_contention(change(problem))


def _delayed(change: Change) -> Change:
    """Return a change of a problem after which transitions occupy no unit."""
    return lambda problem: as_delays(change(problem))


def sharing(permille: int) -> Change:
    """Return a change of a problem that gives shared units another overhead."""

    def change(problem: Problem) -> Problem:
        units = (
            replace(unit, sharing_permille=permille) if unit.dispatch == SHARED else unit
            for unit in problem.units
        )
        return replace(problem, units=tuple(units))

    return change


def with_gpu_factor(factor: float) -> Change:
    """Return a change of a problem that multiplies all times on the GPU. Sharing it is free."""

    def change(problem: Problem) -> Problem:
        problem = sharing(0)(problem)
        units = (
            replace(unit, time_ps=np.where(unit.time_ps < 0, -1, factor * unit.time_ps).astype(int))
            if unit.name == "gpu"
            else unit
            for unit in problem.units
        )
        return replace(problem, units=tuple(units))

    return change


def plan_row(built: BuiltProblem, starts: tuple[str, str], weighted: tuple[int, int]) -> IntArray:
    """Return [groups + domains]: the design point of a plan, at the fastest clocks.

    Groups that a DLA cannot run are on the GPU, as with TensorRT's fallback.
    """
    problem = built.problem
    gpu, dla = (
        next(u for u, unit in enumerate(problem.units) if unit.name == name)
        for name in ("gpu", "dla0")
    )
    chosen: list[int] = []
    for network, start, count in zip(built.networks, starts, weighted, strict=True):
        first, second = (gpu, dla) if start == "gpu" else (dla, gpu)
        chosen += [first if before else second for before in _before(network, count)]
    groups = np.arange(problem.group_count)
    units = np.where(problem.allowed[groups, chosen], chosen, gpu)
    points = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    return np.concatenate([units, points])


@cache
def _row(networks: tuple[str, str], starts: tuple[str, str], weighted: tuple[int, int]) -> IntArray:
    """Return :func:`plan_row` of a pair, which many changes of its problem are compared on."""
    return plan_row(built_pair(networks), starts, weighted)


def _before(network: GroupedNetwork, count: int) -> list[bool]:
    """Return [groups]: whether at least half of a group's weighted layers are among the network's
    first.

    ``count``: the number of these first layers.
    """
    seen, found = 0, []
    for group in network.groups:
        own = sum(layer.kind in _WEIGHTED for layer in group.layers)
        found.append(2 * seen + own <= 2 * count if own else seen < count)
        seen += own
    return found


@cache
def built_pair(networks: tuple[str, str]) -> BuiltProblem:
    """Return the problem of a pair on Xavier, run by TensorRT, with all places for cuts."""
    return built_workload(workload_of(networks), PLATFORM, groups=None, runtime=Runtime.TRTEXEC)


def _times(runs: Sequence[CoRun]) -> FloatArray:
    return np.array([run.measured_ms for run in runs])
