"""Throughput and energy of a pipeline in closed form: phi_1 and phi_2 of Tang et al.

Eq. 1-7: the load of a unit is the time of what is mapped on it, and what it spends on writing and
reading channels; a frame leaves the pipeline once in the largest load. Eq. 8-13: everything that is
on draws idle power for a time T, and what works draws its busy power, less the idle one, meanwhile.
:mod:`fitness.check.closed_form` says the same once more.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.tables import Tables
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.problem.parts import ChannelCosts
from paretosoc.results.problem.problem import Problem

MAX_UNITS = 63
"""The units that a design point uses are the bits of one integer."""


@dataclass(frozen=True, eq=False)
class Loads:
    """What the pipeline gives, for n design points; values of impossible ones mean nothing."""

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
    """A problem laid out for the kernel; all int64, times and energies of all repeats."""

    groups: int
    units: int
    domains: int
    edges: int
    every_channel: bool
    clock: IntArray
    """[units, clocks]: domain, or -1."""
    clock_stride: IntArray
    """[units, clocks]"""
    table_start: IntArray
    """[units]: where a unit's costs begin; inside, [operating points of its clocks, groups]."""
    time_ps: IntArray
    """-1 where the unit cannot run the group."""
    dynamic_fj: IntArray
    idle_start: IntArray
    idle_mw: IntArray
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
    static_start: IntArray
    static_mw: IntArray
    may_be_off: IntArray
    users: IntArray
    """[domains]: bits of the units that have it among their clocks."""
    board_mw: int


LoadEvaluator = Callable[[IntArray], Loads]


def make_load_evaluator(problem: Problem, *, jobs: int = 1) -> LoadEvaluator:
    """A function from rows [n, groups + domains] (units, then operating points) to what they give.

    Rows are shared out over ``jobs`` threads; their number changes nothing but the time taken.

    Raises:
        ValueError: where the problem's execution model is not the closed form, or it has more units
            than bits in an integer.
    """
    from paretosoc.fitness.simulator.closed_form import evaluate_loads

    execution = problem.execution
    if not isinstance(execution, ClosedForm):
        raise ValueError(f"the execution model must be closed-form, got {execution.model}")
    if len(problem.units) > MAX_UNITS:
        raise ValueError(f"at most {MAX_UNITS} units, got {len(problem.units)}")
    plan = make_load_plan(problem, every_channel=execution.channels is ChannelUse.ALL)
    scratch = np.zeros((jobs, 4, plan.units), dtype=np.int64)
    pool = ThreadPoolExecutor(jobs) if jobs > 1 else None
    by_sum = execution.idle_time is IdleTime.SUM_OF_LOADS

    def evaluate(rows: IntArray) -> Loads:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        n = len(rows)
        possible = np.zeros(n, dtype=np.bool_)
        period, total, dynamic, idle = (np.zeros(n, dtype=np.int64) for _ in range(4))
        out = (possible, period, total, dynamic, idle)

        def work(job: int) -> None:
            part = slice(n * job // jobs, n * (job + 1) // jobs)
            evaluate_loads(plan, rows[part], *scratch[job], *(array[part] for array in out))

        if pool is None:
            work(0)
        else:
            list(pool.map(work, range(jobs)))
        idle_time = total if by_sum else period
        return Loads(possible, period, idle_time, idle * idle_time + dynamic)

    return evaluate


def make_load_plan(problem: Problem, *, every_channel: bool) -> LoadPlan:
    """Lays the problem out."""
    plan = make_plan(problem)
    repeats = problem.repeats
    time = [problem.frame_ps(u) for u in range(plan.units)]
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
        groups=plan.groups,
        units=plan.units,
        domains=plan.domains,
        edges=len(problem.edges),
        every_channel=every_channel,
        clock=plan.clock,
        clock_stride=plan.clock_stride,
        table_start=plan.table_start,
        time_ps=np.concatenate([_by_point(table) for table in time]),
        dynamic_fj=np.concatenate([_by_point(table) for table in power]),
        idle_start=plan.idle_start,
        idle_mw=plan.idle_mw,
        source=np.ascontiguousarray(edges[:, 0]),
        target=np.ascontiguousarray(edges[:, 1]),
        copy_clock=np.array([entry.clock for entry in channels], dtype=np.int64),
        copy_start=np.array([sum(sizes[:u]) for u in range(len(sizes))], dtype=np.int64),
        write_ps=_channel_times([entry.write_fs for entry in channels], tokens, of_edge),
        read_ps=_channel_times([entry.read_fs for entry in channels], tokens, of_edge),
        copy_mw=np.concatenate([entry.busy_mw for entry in channels]),
        static_start=plan.static_start,
        static_mw=plan.static_mw,
        may_be_off=plan.may_be_off,
        users=np.array(
            [
                sum(1 << u for u, unit in enumerate(problem.units) if d in unit.clocks)
                for d in range(plan.domains)
            ],
            dtype=np.int64,
        ),
        board_mw=problem.board_mw,
    )


def channel_ps(tokens: IntArray, femtoseconds: int | IntArray) -> IntArray:
    """Time of passing these tokens once, in ps, rounded up."""
    return -(-tokens * femtoseconds // 1000)


def _channels(channels: ChannelCosts | None) -> ChannelCosts:
    assert channels is not None, "check_problem: the closed form has channels on every unit"
    return channels


def _channel_times(rates: list[IntArray], tokens: IntArray, repeats: IntArray) -> IntArray:
    """Flat [operating points of all units, edges]."""
    rows = [channel_ps(tokens[None, :], rate[:, None]) * repeats[None, :] for rate in rates]
    return np.ascontiguousarray(np.concatenate(rows)).reshape(-1)


def _by_point(table: IntArray) -> IntArray:
    """[groups, *points] -> flat [points, groups]: the groups of one choice of clocks together."""
    return np.ascontiguousarray(table.reshape(table.shape[0], -1).T).reshape(-1)
