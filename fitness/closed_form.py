"""Throughput and energy of a pipeline in closed form: phi_1 and phi_2 of Tang et al.

Eq. 1-7: the load of a unit is the time of the groups mapped on it, and the time that it spends on
writing and reading channels. A frame leaves the pipeline once in the largest load. Eq. 8-13:
everything that is on draws idle power for a time T, and a working unit draws its busy power, less
the idle one, meanwhile. :mod:`fitness.check.members.closed_form` implements the same independently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.simulator.layout import by_point, make_plan
from paretosoc.fitness.simulator.threads import RowSimulator, share_rows
from paretosoc.fitness.simulator.types.tables import Tables
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.problem.parts import ChannelCosts
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Loads:
    """Period and energy of the pipeline for n design points, undefined for impossible ones."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    period_ps: IntArray
    """[n]: the largest load of a unit, 1 / phi_1 (Eq. 2)."""
    idle_time_ps: IntArray
    """[n]: T, by the problem's ``idle_time``."""
    energy_fj: IntArray
    """[n]: phi_2, of one frame."""


@dataclass(frozen=True, eq=False)
class LoadPlan(Tables):
    """Input of the kernel besides the plan, in int64. Times and energies are of all repeats."""

    edges: int
    every_channel: bool
    time_ps: IntArray
    """Times in the order of ``Plan.cost``, -1 if the unit cannot run the group."""
    dynamic_fj: IntArray
    source: IntArray
    """[edges]: group."""
    target: IntArray
    copy_clock: IntArray
    """[units]: domain of the core that reads and writes channels."""
    copy_start: IntArray
    """[units]: first row of the unit in the three tables below, a row per operating point."""
    write_ps: IntArray
    """Flat [rows, edges]."""
    read_ps: IntArray
    copy_mw: IntArray
    """[rows]"""


LoadEvaluator = Callable[[IntArray], Loads]


def make_load_evaluator(problem: Problem, *, jobs: int = 1) -> LoadEvaluator:
    """Return a function from rows [n, groups + domains] to :class:`Loads`.

    A row has units, then operating points. Rows are shared out over ``jobs`` threads. Their number
    changes nothing but the time taken.

    Raises:
        ValueError: if the problem's execution model is not the closed form.
    """
    from paretosoc.fitness.simulator.closed_form import evaluate_loads

    execution = problem.execution
    if not isinstance(execution, ClosedForm):
        raise ValueError(f"the execution model must be closed-form, got {execution.model}")
    plan = make_plan(problem)
    loads = _make_load_plan(problem, every_channel=execution.channels is ChannelUse.ALL)

    def simulator() -> RowSimulator:
        scratch = np.zeros((6, max(plan.units, plan.domains)), dtype=np.int64)
        return lambda rows, *out: evaluate_loads(plan, loads, rows, *scratch, *out)

    simulate = share_rows([simulator() for _ in range(jobs)])
    by_sum = execution.idle_time is IdleTime.SUM_OF_LOADS

    def evaluate(rows: IntArray) -> Loads:
        n = len(rows)
        possible = np.zeros(n, dtype=np.bool_)
        period, total, dynamic, idle = (np.zeros(n, dtype=np.int64) for _ in range(4))
        simulate(rows, possible, period, total, dynamic, idle)
        idle_time = total if by_sum else period
        return Loads(possible, period, idle_time, idle * idle_time + dynamic)

    return evaluate


def _make_load_plan(problem: Problem, *, every_channel: bool) -> LoadPlan:
    repeats = problem.repeats
    time = [problem.frame_ps(u) for u in range(len(problem.units))]
    power = [
        np.maximum(table, 0) * unit.dynamic_mw
        for table, unit in zip(time, problem.units, strict=True)
    ]
    channels = [_channels(unit.channels) for unit in problem.units]
    edges = np.array(problem.edges, dtype=np.int64).reshape(-1, 2)
    tokens = np.zeros(0, dtype=np.int64) if problem.edge_tokens is None else problem.edge_tokens
    of_edge = repeats[edges[:, 0]] if len(edges) else np.zeros(0, dtype=np.int64)
    sizes = [len(entry.busy_mw) for entry in channels]
    return LoadPlan(
        edges=len(problem.edges),
        every_channel=every_channel,
        time_ps=np.concatenate([by_point(table) for table in time]),
        dynamic_fj=np.concatenate([by_point(table) for table in power]),
        source=np.ascontiguousarray(edges[:, 0]),
        target=np.ascontiguousarray(edges[:, 1]),
        copy_clock=np.array([entry.clock for entry in channels], dtype=np.int64),
        copy_start=np.array([sum(sizes[:u]) for u in range(len(sizes))], dtype=np.int64),
        write_ps=_channel_times([entry.write_fs for entry in channels], tokens, of_edge),
        read_ps=_channel_times([entry.read_fs for entry in channels], tokens, of_edge),
        copy_mw=np.concatenate([entry.busy_mw for entry in channels]),
    )


def channel_ps(tokens: IntArray, femtoseconds: int | IntArray) -> IntArray:
    """Return the time of passing these tokens once, in ps, rounded up."""
    return -(-tokens * femtoseconds // 1000)


def _channels(channels: ChannelCosts | None) -> ChannelCosts:
    assert channels is not None, "check_problem: the closed form has channels on every unit"
    return channels


def _channel_times(rates: list[IntArray], tokens: IntArray, repeats: IntArray) -> IntArray:
    """Return channel times, flat [operating points of all units, edges]."""
    rows = [channel_ps(tokens[None, :], rate[:, None]) * repeats[None, :] for rate in rates]
    return np.ascontiguousarray(np.concatenate(rows)).reshape(-1)
