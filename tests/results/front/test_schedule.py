"""Schedules as pictures show them: parts of a unit's row, and the end of the time."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import evaluate_row
from paretosoc.results.front.schedule import Schedule, ScheduledGroup, ScheduledMember
from paretosoc.results.plots.gantt import draw_gantts


def execution(network: int, unit: int, start: int, end: int) -> ScheduledGroup:
    return ScheduledGroup(1, network, 1, network, unit, start, start, end, end - start)


def overlap(schedule: Schedule, unit: int) -> bool:
    rows = [row for row in schedule.groups if row.unit == unit]
    return any(
        a.network != b.network and max(a.start_ps, b.start_ps) < min(a.end_ps, b.end_ps)
        for a, b in combinations(rows, 2)
    )


def test_networks_that_overlap_on_a_unit_have_parts_of_its_row() -> None:
    rng = np.random.default_rng(3)
    several = 0
    for _ in range(300):
        rows = []
        for network, unit, start, length in rng.integers((3, 2, 30, 5), size=(6, 4)).tolist():
            rows.append(execution(network, unit, start, start + length + 1))
        schedule = Schedule(tuple(rows))
        for unit in {row.unit for row in rows}:
            there = sorted({row.network for row in rows if row.unit == unit})
            found = [schedule.lanes[unit, network] for network in there]
            if overlap(schedule, unit):
                assert found == [(k, len(there)) for k in range(len(there))]
                several += 1
            else:
                assert found == [(0, 1)] * len(there)
    assert several


@pytest.mark.parametrize("window_ps", [None, (0, 10**12)])
def test_a_schedule_with_rates_is_shown_to_the_end_of_its_period(
    window_ps: tuple[int, int] | None,
) -> None:
    problem = reference_problem()
    row = DesignSpace(problem).random(np.random.default_rng(0), 1)[0]
    shown = evaluate_row(problem, row).scheduled
    end = shown.schedule.makespan_ps
    shown = ScheduledMember(problem, replace(shown.member, window_ps=window_ps), shown.schedule)
    assert shown.shown_ps == (10**12 if window_ps else end)
    assert draw_gantts([("", shown)]).x.high == pytest.approx(1.01 * shown.shown_ps / 1e9)
    assert f"0 to {shown.shown_ps / 1e9:.4f} ms" in shown._repr_html_()
