"""Whether units together get more of the memory than it has, in random schedules.

Units that ask for more than the memory has are slowed down so that the traffic that is left, demand
times rate, adds up to at most its bandwidth. For each platform random mappings at random clocks are
simulated, all units taking one group at a time. Counted is in how many intervals in which several
units run the sum is above the bandwidth at the memory's clock, and in how many it would be above
without this rule, in how much of the time, and by how much at most.

Usage: ``python -m benchmarks.conservation [--schedules 600] [--json | --markdown]``; some minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

import paretosoc as dse
from benchmarks.harness.report import Column, Value, tabulate
from benchmarks.problems.contended_problems import random_rows
from paretosoc.fitness.contention import lost_rate
from paretosoc.fitness.simulate import simulate
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.results.front.schedule import ScheduledGroup
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.execution import GROUP
from paretosoc.results.problem.problem import DesignPoint, Problem

NETWORKS = ("resnet50", "vgg19", "mobilenet_v2", "resnet18")
SCHEDULES = 600
COLUMNS = (
    Column("platform", "platform"),
    Column("units", "units"),
    Column("intervals", "intervals", ",d"),
    Column("above", "above the bandwidth", ",d"),
    Column("otherwise_percent", "without the rule, %", ".2f"),
    Column("time_percent", "of the time, %", ".2f"),
    Column("worst_percent", "at most above by, %", ".1f"),
)


def measure(platform: str, schedules: int) -> dict[str, Value]:
    """Return a row of the table."""
    problem = dse.Problem(
        list(NETWORKS), platform, groups=10, runtime="none", dispatch=GROUP, max_transitions="any"
    ).numeric
    chip = load_platform(platform)
    khz = chip.ladder_khz(chip.memory.domain)
    loads: list[tuple[int, float, float]] = []
    for row in random_rows(problem, schedules):
        design = problem.design_of(row)
        clock = problem.memory_domain
        point = 0 if clock is None else int(design.operating_points[clock])
        loads += intervals(problem, design, point, chip.memory.bytes_per_cycle * khz[point])
    lengths, ratios, otherwise = (
        np.array(column, dtype=float) for column in zip(*loads, strict=True)
    )
    over = otherwise > 1
    return {
        "platform": platform,
        "units": len(problem.units),
        "intervals": len(loads),
        "above": int((ratios > 1).sum()),
        "otherwise_percent": 100 * float(over.mean()),
        "time_percent": 100 * float(lengths[over].sum() / lengths.sum()),
        "worst_percent": max(0.0, 100 * (float(otherwise.max()) - 1)),
    }


def intervals(
    problem: Problem, design: DesignPoint, point: int, peak_kbps: int
) -> Iterator[tuple[int, float, float]]:
    """Yield length and traffic over bandwidth, with and without the rule, of the intervals in which
    several units run."""
    tables = [unit.contention for unit in problem.units]
    free = [unit.contention for unit in unlimited(problem).units]
    played = simulate(problem, design).schedule.groups
    instants = sorted({at for one in played for at in (one.start_ps, one.end_ps)})
    demand = {one: _demand(problem, design, one) for one in played}
    begun = sorted(played, key=lambda one: one.start_ps)
    running: list[ScheduledGroup] = []
    for now, later in pairwise(instants):
        running = [one for one in running if one.end_ps > now]
        while begun and begun[0].start_ps <= now:
            running.append(begun.pop(0))
        if len(running) < 2:
            continue
        total = sum(demand[one] for one in running)
        got = []
        for rules in (tables, free):
            left = 0
            for one in running:
                table, own = rules[one.unit], demand[one]
                lost = 0 if table is None else lost_rate(table, point, own, total - own)
                left += own * (WORK_PER_PS - lost)
            got.append(left / WORK_PER_PS / peak_kbps)
        yield later - now, got[0], got[1]


def unlimited(problem: Problem) -> Problem:
    """Return the problem without the rule."""
    units = (
        replace(unit, contention=unit.contention and replace(unit.contention, memory_kbps=None))
        for unit in problem.units
    )
    return replace(problem, units=tuple(units))


def _demand(problem: Problem, design: DesignPoint, one: ScheduledGroup) -> int:
    unit, at = design.place_of(problem, one.group)
    return int(unit.demand_kbps[at])


if __name__ == "__main__":
    tabulate(
        "benchmarks.conservation",
        "Traffic of units together, and the memory's bandwidth",
        COLUMNS,
        [name for name in platform_names() if name != "neurocube"],
        measure,
        ("schedules", SCHEDULES),
    )
