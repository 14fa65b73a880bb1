"""Co-runs whose plans are published: HaX-CoNN's artifact names the schedule of every time.

A row of ``hax_artifact_plans.json`` says for each network which unit it starts on and how many
convolutions and inner products it computes there; the rest is on the other unit. The plan is cut at
the nearest group, simulated, and read as the source reads its timers: the larger of the two
networks' times, or their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks.validation.published import DataSet, read_set
from benchmarks.validation.scores import Comparison
from examples.hax.prediction import built_workload
from examples.hax.published import Experiment
from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.baselines.group_by_group import without_contention
from paretosoc.dse.problem.build import BuiltProblem
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind

DATA = "hax_artifact_plans"
PLATFORM = "jetson-agx-xavier"
PLANS = "HaX-CoNN's artifact, its own plans, time"
GUIDE = "HaX-CoNN's starter guide, its own plans, time"
TABLE6 = "HaX-CoNN's Table 6, the artifact's plans, time"
FACTORS = 1 + np.arange(61) / 100
"""Of the GPU's times: what profiling and a shared GPU cost."""
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


def known_plans(table6: Sequence[Experiment]) -> list[Comparison]:
    """Compare times of given schedules: nothing fitted, one factor, and as checks other plans."""
    artifact = co_runs_of("artifact")
    measured = _times(artifact)
    nothing, one = "networks alone", "the other pairs, one factor"
    laws: list[tuple[str, Callable[[Problem], Problem]]] = [
        ("no contention", without_contention),
        ("with contention", lambda problem: problem),
    ]
    found = [
        Comparison(PLANS, nothing, law, "ms", predicted(artifact, change), measured)
        for law, change in laws
    ]
    # If plans of the same pair did as well, the agreement would say nothing of the plans.
    others = [
        (run, other)
        for run in artifact
        for other in artifact
        if other.experiment == run.experiment and other.scheduler != run.scheduler
    ]
    found.append(
        Comparison(
            PLANS,
            nothing,
            "another plan of the pair",
            "ms",
            predicted([replace(other, is_sum=run.is_sum) for run, other in others]),
            _times([run for run, _ in others]),
        )
    )
    table = np.stack([predicted(artifact, with_gpu_factor(factor)) for factor in FACTORS])
    sums = predicted([replace(run, starts=("gpu", "gpu"), weighted=_ALL) for run in artifact])
    found += [
        Comparison(PLANS, one, law, "ms", left_out(artifact, tried), measured)
        for law, tried in (
            ("sum on the GPU x a factor", np.outer(np.arange(50, 200) / 100, sums)),
            ("with contention, GPU x a factor", table),
        )
    ]
    guide = co_runs_of("starter guide")
    found += [
        Comparison(GUIDE, nothing, law, "ms", predicted(guide, change), _times(guide))
        for law, change in laws
    ]
    published = {row.number: row.published_ms for row in table6}
    paper = np.array([published[run.experiment][run.scheduler] for run in artifact])
    found += [
        Comparison(
            TABLE6,
            nothing,
            law,
            "ms",
            predicted([replace(run, is_sum=False) for run in artifact], change),
            paper,
        )
        for law, change in laws
    ]
    return found


_ALL = (10**6, 10**6)
"""Weighted layers of networks that stay on one unit."""


def predicted(
    runs: Sequence[CoRun], change: Callable[[Problem], Problem] = lambda problem: problem
) -> FloatArray:
    """[runs]: times of the plans in ms, on problems that are changed before."""
    found = []
    for run in runs:
        built = _built(run.networks)
        row = plan_row(built, run.starts, run.weighted)
        latency_ps = make_evaluator(change(built.problem))(row[None]).latency_ps[0]
        found.append((latency_ps.sum() if run.is_sum else latency_ps.max()) / 1e9)
    return np.array(found)


def left_out(runs: Sequence[CoRun], table: FloatArray) -> FloatArray:
    """[runs]: predictions by the row of a table [parameters, runs] with the least sum of
    logarithmic errors over the other pairs."""
    errors = np.abs(np.log(table / _times(runs)))
    pairs = np.array([run.experiment for run in runs])
    best = [int(errors[:, pairs != pair].sum(axis=1).argmin()) for pair in pairs]
    return table[best, np.arange(len(runs))]


def with_gpu_factor(factor: float) -> Callable[[Problem], Problem]:
    """Return a change of a problem that multiplies all times on the GPU."""

    def change(problem: Problem) -> Problem:
        units = (
            replace(unit, time_ps=np.where(unit.time_ps < 0, -1, factor * unit.time_ps).astype(int))
            if unit.name == "gpu"
            else unit
            for unit in problem.units
        )
        return replace(problem, units=tuple(units))

    return change


def plan_row(built: BuiltProblem, starts: tuple[str, str], weighted: tuple[int, int]) -> IntArray:
    """[groups + domains]: the design point of a plan, at the fastest clocks. What a DLA cannot run
    is on the GPU, as with TensorRT's fallback."""
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


def _before(network: GroupedNetwork, count: int) -> list[bool]:
    """[groups]: whether at least half of a group's weighted layers are among the first ``count``
    of its network."""
    seen, found = 0, []
    for group in network.groups:
        own = sum(layer.kind in _WEIGHTED for layer in group.layers)
        found.append(2 * seen + own <= 2 * count if own else seen < count)
        seen += own
    return found


@cache
def _built(networks: tuple[str, str]) -> BuiltProblem:
    return built_workload(workload_of(networks), PLATFORM)


def _times(runs: Sequence[CoRun]) -> FloatArray:
    return np.array([run.measured_ms for run in runs])
