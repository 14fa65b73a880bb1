"""What transitions would cost if they occupied a unit.

In the model a transition is a delay. On a board some of it is work: a GPU reformats tensors for a
DLA, or a CPU core copies them. For each workload a front is searched. Each member is then simulated
with every transition as a group of its own, with the traffic that it moves: all of it on the GPU,
what follows the bytes on the GPU (the rest is a delay), or all of it on one core that does nothing
else. The table says how long the transitions of a member are, against its makespan, and by how much
makespan and energy grow. Energy is that of the first case, with as much power as the GPU's
hungriest group takes.

Usage: ``python -m benchmarks.accuracy.transitions [--evaluations 20000] [--json | --markdown]``; a
minute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import paretosoc as dse
from benchmarks.harness.report import Column, Value, tabulate
from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PS_PER_NS
from paretosoc.dse.space.members import rows_of
from paretosoc.fitness.costs.transitions import TRAFFIC_PER_BYTE
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.problem.execution import GROUP
from paretosoc.results.problem.parts import ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import Problem

EVALUATIONS = 20_000
BYTES_MOVED = 4
"""Per element: two are read and two written."""
COLUMNS = (
    Column("workload", "workload"),
    Column("share", "transitions, % of the makespan", ".1f"),
    Column("most_share", "most", ".1f"),
    Column("gpu", "on the GPU, longer by %", ".1f"),
    Column("most_gpu", "most", ".1f"),
    Column("bytes", "only what follows bytes, longer by %", ".1f"),
    Column("most_bytes", "most", ".1f"),
    Column("core", "on a core, longer by %", ".1f"),
    Column("most_core", "most", ".1f"),
    Column("fastest", "on the GPU, the fastest is slower by %", ".1f"),
    Column("energy", "more energy, %", ".1f"),
)


@dataclass(frozen=True)
class Case:
    """A workload on a board."""

    platform: str
    networks: tuple[str, ...]


CASES = (
    Case("jetson-agx-xavier", ("vgg19", "resnet50")),
    Case("jetson-agx-xavier", ("googlenet", "resnet101")),
    Case("jetson-agx-xavier", ("vgg19", "resnet152")),
    Case("jetson-agx-xavier", ("inception_v4", "resnet152")),
    Case("jetson-agx-xavier", ("mobilenet_v2", "resnet50", "googlenet")),
    Case("jetson-agx-xavier", ("squeezenet", "resnet18", "vgg19")),
    Case("jetson-agx-orin", ("resnet50", "yolo11n")),
    Case("jetson-agx-orin", ("vgg19", "resnet50")),
    Case("jetson-agx-orin", ("efficientnet_b0", "mobilenet_v2")),
    Case("jetson-agx-orin", ("resnet50", "mobilenet_v2", "swin_t")),
    Case("jetson-agx-orin", ("yolov8s", "resnet18", "squeezenet")),
)


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return a row of the table."""
    chosen = dse.Problem(list(case.networks), case.platform, groups=12)
    found = dse.explore(chosen, "nsga2", max_evaluations=evaluations).numeric
    problem, rows = found.problem, rows_of(found.members)
    gpu = next(u for u, unit in enumerate(problem.units) if unit.unit_name == "gpu")
    plain = make_evaluator(problem)(rows)
    before = plain.makespan_ps
    shares = np.array([int(passing_ps(problem, row).sum()) for row in rows]) / before
    fixed = fixed_ps(problem, load_platform(case.platform))
    cases = {"core": (None, None), "bytes": (gpu, fixed), "gpu": (gpu, None)}
    row: dict[str, Value] = {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "share": 100 * float(np.median(shares)),
        "most_share": 100 * float(shares.max()),
    }
    for name, (unit, delays) in cases.items():
        after, energy = np.array([_played(problem, one, unit, delays) for one in rows]).T
        longer = 100 * (after / before - 1)
        row |= {name: float(np.median(longer)), f"most_{name}": float(longer.max())}
    return row | {
        "fastest": 100 * (int(after.min()) / int(before.min()) - 1),
        "energy": 100 * float(np.median(energy / plain.energy_fj - 1)),
    }


def _played(
    problem: Problem, row: IntArray, unit: int | None, delays_ps: IntArray | None
) -> tuple[int, int]:
    """Return makespan and energy of a design point whose transitions occupy a unit, or a core."""
    changed, mapped = occupying(problem, row, unit, delays_ps)
    played = make_evaluator(changed)(mapped[None])
    return int(played.makespan_ps[0]), int(played.energy_fj[0])


def fixed_ps(problem: Problem, platform: Platform) -> IntArray:
    """Return [units, units]: what a transition takes whatever its bytes."""
    costs = {entry.unit: entry for entry in platform.transitions}
    ends = [costs[unit.unit_name] for unit in problem.units]
    rows = [[PS_PER_NS * (out.out_fixed_ns + into.in_fixed_ns) for into in ends] for out in ends]
    return np.array(rows, dtype=np.int64)


def passing_ps(problem: Problem, row: IntArray) -> IntArray:
    """Return [edges]: the times of the transitions of a design point, 0 within a unit."""
    ends = row[np.array(problem.edges)]
    passing: IntArray = problem.transition_ps[np.arange(len(ends)), ends[:, 0], ends[:, 1]]
    return passing


def occupying(
    problem: Problem, row: IntArray, unit: int | None, delays_ps: IntArray | None = None
) -> tuple[Problem, IntArray]:
    """Return a problem, and a design point of it, with transitions as groups.

    A transition comes before the group that reads it.

    Args:
        problem: with one number format.
        row: its design point.
        unit: where transitions run, or None for a unit of their own.
        delays_ps: [units, units], how much of a transition occupies nothing. None: all occupies.
    """
    if delays_ps is None:
        delays_ps = np.zeros((len(problem.units), len(problem.units)), dtype=np.int64)
    passing = passing_ps(problem, row)
    edges_into: dict[int, list[int]] = {}
    for edge in np.flatnonzero(passing).tolist():
        edges_into.setdefault(problem.edges[edge][1], []).append(edge)
    networks: list[ProblemNetwork] = []
    # For every new group the old one, or the one that reads the transition, and the edge of it.
    kept: list[int] = []
    handed: list[int] = []
    for network in problem.networks:
        first, names = len(kept), []
        for name, group in zip(network.group_names, network.groups, strict=True):
            for edge in (*edges_into.get(group, ()), -1):
                kept.append(group)
                handed.append(edge)
                names.append(name if edge < 0 else f"{name} takes {edge} over")
        networks.append(
            replace(
                network, first_group=first, group_names=tuple(names), group_activation_bytes=None
            )
        )
    old, edge_of = np.array(kept), np.array(handed)
    new = {group: at for at, group in enumerate(kept) if handed[at] < 0}
    units = [_with_rows(one, old) for one in problem.units]
    host = len(units) if unit is None else unit
    if unit is None:
        units.append(_core(problem, len(old)))
    size = len(units), len(units)
    delays: dict[tuple[int, int], IntArray] = {}
    times = np.zeros_like(old)
    for edge, (source, target) in enumerate(problem.edges):
        if not passing[edge]:
            delays[new[source], new[target]] = np.zeros(size, dtype=np.int64)
    for at in np.flatnonzero(edge_of >= 0).tolist():
        source, target = problem.edges[handed[at]]
        delay = min(int(delays_ps[row[source], row[target]]), int(passing[handed[at]]) - 1)
        times[at] = passing[handed[at]] - delay
        # A delay is between two units, and the transition may be on that of its source.
        delays[new[source], at] = np.full(size, delay * int(row[source] != host))
        delays[at, new[target]] = np.full(size, delay * int(row[source] == host))
    units[host] = _handing(units[host], times, _moved_kbps(problem, edge_of, times))
    chosen = np.where(edge_of >= 0, host, row[old])
    allowed = np.zeros((len(old), len(units)), dtype=np.bool_)
    allowed[np.arange(len(old)), chosen] = True
    pairs = sorted(delays)
    changed = replace(
        problem,
        networks=tuple(networks),
        edges=tuple(pairs),
        edge_tokens=None,
        transition_ps=np.stack([delays[pair] for pair in pairs]),
        units=tuple(units),
        allowed=allowed,
    )
    return changed, np.concatenate([chosen, row[len(problem.allowed) :]])


def _moved_kbps(problem: Problem, edge_of: IntArray, times_ps: IntArray) -> IntArray:
    """Return [groups]: the traffic of transitions."""
    assert problem.edge_tokens is not None
    moved = BYTES_MOVED * problem.edge_tokens[edge_of] * TRAFFIC_PER_BYTE
    return np.where(edge_of >= 0, moved // np.maximum(times_ps, 1), 0)


def _with_rows(unit: ProblemUnit, old: IntArray) -> ProblemUnit:
    """Return the unit with the tables of these groups."""
    return replace(
        unit,
        time_ps=unit.time_ps[old],
        demand_kbps=unit.demand_kbps[old],
        dynamic_mw=unit.dynamic_mw[old],
        step_ps=None if unit.step_ps is None else unit.step_ps[old],
        loss_ppm=None,
        weight_bytes=None,
    )


def _handing(unit: ProblemUnit, times_ps: IntArray, traffic_kbps: IntArray) -> ProblemUnit:
    """Return the unit with transitions where ``times_ps`` [groups] is not 0."""
    at = np.flatnonzero(times_ps)
    time, demand, power = unit.time_ps.copy(), unit.demand_kbps.copy(), unit.dynamic_mw.copy()
    points = (1,) * (time.ndim - 1)
    time[at] = times_ps[at].reshape(-1, *points)
    demand[at] = traffic_kbps[at].reshape(-1, *points)
    power[at] = power.max(axis=0)
    return replace(unit, time_ps=time, demand_kbps=demand, dynamic_mw=power)


def _core(problem: Problem, groups: int) -> ProblemUnit:
    """Return a unit that takes one transition at a time, at any clock, and draws nothing."""
    clock = problem.units[0].clocks[:1]
    shape = groups, len(problem.domains[clock[0]].frequencies_khz)
    return ProblemUnit(
        name="copying core",
        clocks=clock,
        idle_mw=np.zeros(shape[1:], dtype=np.int64),
        contention=None,
        time_ps=np.full(shape, -1),
        demand_kbps=np.zeros(shape, dtype=np.int64),
        dynamic_mw=np.zeros(shape, dtype=np.int64),
        dispatch=GROUP,
    )


if __name__ == "__main__":
    tabulate(
        "benchmarks.accuracy.transitions",
        "Transitions that occupy a unit",
        COLUMNS,
        CASES,
        measure,
        ("evaluations", EVALUATIONS),
    )
