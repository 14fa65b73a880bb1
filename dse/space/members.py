"""Members of a front from rows: schedules, latencies, energy by unit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dse.space.design_space import DesignSpace
from fitness.objectives import WholeTime, make_whole_time
from fitness.reference.closed_form import plain_loads
from fitness.simulate import (
    PIPELINE_FRAMES,
    PIPELINE_WARM_UP,
    Timeline,
    design_of,
    make_evaluator,
    play,
    row_of,
)
from fitness.simulate_free_running import (
    FreeRuns,
    dynamic_by_unit,
    make_free_run_evaluator,
    play_shown,
)
from results.front.front import FreeRun, Member
from results.front.schedule import Schedule, ScheduledGroup
from results.problem.problem import BoolArray, DesignPoint, EnergyUse, IntArray, Problem


def make_members(
    problem: Problem, rows: IntArray, objectives: IntArray, *, jobs: int = 1
) -> tuple[Member, ...]:
    """Members by rising objectives, the first first; rows [n, groups + domains], canonical.

    Args:
        jobs: threads for networks that run freely, which may take long to play.
    """
    space = DesignSpace(problem)
    used = np.zeros((len(rows), len(problem.units)), dtype=np.bool_)
    np.put_along_axis(used, rows[:, : space.groups], True, axis=1)
    on = space.domains_on(used)
    timelines = [play(problem, design_of(problem, row)) for row in rows]
    energies = (
        _energies_of_free_runs(problem, rows, on, jobs)
        if problem.free_running
        else _energies_of_frames(problem, rows, on, timelines)
    )
    shown: list[tuple[Schedule, FreeRun | None]]
    if problem.free_running:
        with ThreadPoolExecutor(jobs) as pool:
            shown = list(pool.map(lambda row: play_shown(problem, design_of(problem, row)), rows))
    else:
        shown = [(timeline.schedule, None) for timeline in timelines]
    members = []
    for index in np.lexsort(objectives.T[::-1]).tolist():
        design, timeline = design_of(problem, rows[index]), timelines[index]
        schedule, free_run = shown[index]
        energy, by_unit = energies[index]
        members.append(
            Member(
                design=design,
                objectives=tuple(int(value) for value in objectives[index]),
                domain_on=tuple(bool(value) for value in on[index]),
                schedule=schedule,
                latencies_ps=timeline.latency_ps[0],
                makespan_ps=timeline.frame_end_ps[0],
                energy_fj=energy,
                energy_by_unit_fj=by_unit,
                free_run=free_run,
            )
        )
    return tuple(members)


Energies = list[tuple[int, tuple[int, ...]]]
"""Of each row its energy, and that of each unit, fJ."""


def _energies_of_frames(
    problem: Problem, rows: IntArray, on: BoolArray, timelines: Sequence[Timeline]
) -> Energies:
    whole_time = make_whole_time(problem)(rows, make_evaluator(problem)(rows))
    return [
        (
            int(whole_time.energy_fj[i]),
            _energy_by_unit(problem, design_of(problem, row), on[i], timelines[i], whole_time, i),
        )
        for i, row in enumerate(rows)
    ]


def _energies_of_free_runs(problem: Problem, rows: IntArray, on: BoolArray, jobs: int) -> Energies:
    runs = make_free_run_evaluator(problem, jobs=jobs)(rows)
    dynamic = dynamic_by_unit(problem, rows, runs, jobs=jobs)
    return [
        (
            energy,
            _energy_of_free_run(problem, design_of(problem, rows[i]), on[i], runs, dynamic[i], i),
        )
        for i, (energy, _, _) in enumerate(runs.energies())
    ]


def _energy_by_unit(
    problem: Problem,
    design: DesignPoint,
    on: BoolArray,
    frame: Timeline,
    whole_time: WholeTime,
    index: int,
) -> tuple[int, ...]:
    """Per unit: idle and dynamic energy of one frame, fJ."""
    if problem.is_analytic:
        return plain_loads(problem, design).energy_by_unit_fj
    counted, frames = frame.schedule.groups, 1
    idle_ps = int(whole_time.time_ps[index])
    if problem.energy_use is EnergyUse.PIPELINE:
        whole = play(problem, design, frames=PIPELINE_FRAMES, in_flight=problem.frames_in_flight)
        counted = tuple(e for e in whole.schedule.groups if e.frame > PIPELINE_WARM_UP)
        frames = PIPELINE_FRAMES - PIPELINE_WARM_UP
        idle_ps = int(whole_time.window_ps[index])
    row = row_of(design)
    return tuple(
        _unit_energy(problem, row, on, u, idle_ps, counted) // frames
        for u in range(len(problem.units))
    )


def _energy_of_free_run(
    problem: Problem,
    design: DesignPoint,
    on: BoolArray,
    runs: FreeRuns,
    dynamic_fj: Sequence[int],
    index: int,
) -> tuple[int, ...]:
    """Per unit: idle and dynamic energy in the window, for each inference in it, fJ."""
    window, count = int(runs.window_ps[index]), int(runs.inferences[index].sum())
    row = row_of(design)
    return tuple(
        (_unit_energy(problem, row, on, u, window, ()) + dynamic) // count
        for u, dynamic in enumerate(dynamic_fj)
    )


def _unit_energy(
    problem: Problem,
    row: IntArray,
    on: BoolArray,
    u: int,
    idle_ps: int,
    executions: Sequence[ScheduledGroup],
) -> int:
    """Idle energy of the unit over ``idle_ps``, and dynamic energy of its executions, fJ."""
    unit = problem.units[u]
    points = tuple(int(row[problem.group_count + clock]) for clock in unit.clocks)
    idle = int(unit.idle_mw[points]) * idle_ps if on[unit.clocks[0]] else 0
    return idle + sum(
        int(unit.dynamic_mw[(entry.group, *points)]) * (entry.end_ps - entry.start_ps)
        for entry in executions
        if entry.unit == u
    )
