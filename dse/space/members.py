"""Members of a front from rows: schedules, latencies, energy by unit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from dse.space.design_space import DesignSpace
from fitness.objectives import make_energy_account
from fitness.reference.closed_form import plain_loads
from fitness.simulate import Timeline, design_of, make_evaluator, play
from fitness.simulate_long_run import LongRuns, free_run_of, make_long_run_evaluator
from results.front.front import FreeRun, Member
from results.front.schedule import Schedule
from results.problem.problem import BoolArray, DesignPoint, EnergyUse, IntArray, Problem


def make_members(
    problem: Problem, rows: IntArray, objectives: IntArray, *, jobs: int = 1
) -> tuple[Member, ...]:
    """Members by rising objectives, the first first; rows [n, groups + domains], canonical.

    Args:
        jobs: threads for pipelines and networks that run freely, which may take long to play.
    """
    space = DesignSpace(problem)
    used = np.zeros((len(rows), len(problem.units)), dtype=np.bool_)
    np.put_along_axis(used, rows[:, : space.groups], True, axis=1)
    on = space.domains_on(used)
    timelines = [play(problem, design_of(problem, row)) for row in rows]
    shown: list[tuple[Schedule, FreeRun | None]] = [(t.schedule, None) for t in timelines]
    if problem.energy_use is EnergyUse.PIPELINE and not problem.is_analytic:
        runs = make_long_run_evaluator(problem, jobs=jobs)(rows)
        energies = _energies_of_long_runs(problem, rows, on, runs)
        if problem.free_running:
            with ThreadPoolExecutor(jobs) as pool:
                designs = [design_of(problem, row) for row in rows]
                shown = list(
                    pool.map(partial(free_run_of, problem), designs, runs.stream_period_ps)
                )
    else:
        energies = _energies_of_frames(problem, rows, on, timelines)
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
    energy_account = make_energy_account(problem)(rows, make_evaluator(problem)(rows))
    result = []
    for i, row in enumerate(rows):
        if problem.is_analytic:
            by_unit = plain_loads(problem, design_of(problem, row)).energy_by_unit_fj
        else:
            idle = _idle_of_units(problem, design_of(problem, row), on[i])
            dynamic = _dynamic_of_units(problem, row, timelines[i])
            time = int(energy_account.time_ps[i])
            by_unit = tuple(a * time + b for a, b in zip(idle, dynamic, strict=True))
        result.append((int(energy_account.energy_fj[i]), by_unit))
    return result


def _energies_of_long_runs(
    problem: Problem, rows: IntArray, on: BoolArray, runs: LongRuns
) -> Energies:
    """Of one frame, in the mean over the window."""
    dynamic = runs.dynamic_energies()
    result = []
    for i, (energy, _, _) in enumerate(runs.energies()):
        idle = _idle_of_units(problem, design_of(problem, rows[i]), on[i])
        window = int(runs.window_ps[i])
        by_unit = tuple(
            runs.per_frame(i, a * window + b) for a, b in zip(idle, dynamic[i], strict=True)
        )
        result.append((energy, by_unit))
    return result


def _idle_of_units(problem: Problem, design: DesignPoint, on: BoolArray) -> tuple[int, ...]:
    """Per unit, in mW; 0 where it is off."""
    return tuple(
        int(unit.idle_mw[tuple(int(design.operating_points[clock]) for clock in unit.clocks)])
        if on[unit.clocks[0]]
        else 0
        for unit in problem.units
    )


def _dynamic_of_units(problem: Problem, row: IntArray, frame: Timeline) -> tuple[int, ...]:
    """Per unit: dynamic energy of one frame, fJ."""
    result = [0] * len(problem.units)
    for entry in frame.schedule.groups:
        unit = problem.units[entry.unit]
        points = tuple(int(row[problem.group_count + clock]) for clock in unit.clocks)
        power = int(unit.dynamic_mw[(entry.group, *points)])
        result[entry.unit] += power * (entry.end_ps - entry.start_ps)
    return tuple(result)
