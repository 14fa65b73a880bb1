"""Every schedule of every method keeps its rules; nothing is below what is proved impossible."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import pytest

from paretosoc.dse.papers.mobile_i.check import broken_rule
from paretosoc.dse.papers.mobile_i.periodic import (
    EngineArray,
    PeriodicSchedule,
    Task,
    TaskGraph,
    Transfer,
    repeated,
)
from paretosoc.dse.papers.mobile_i.schedule.placement import (
    initial_schedule,
    longest_first,
    place_in_order,
)
from paretosoc.dse.papers.mobile_i.schedule.reallocation import critical_tasks, reallocate
from paretosoc.dse.papers.mobile_i.schedule.schedulers import memolution, mobile_i, sparta
from paretosoc.dse.papers.mobile_i.schedule.stages import staged_placements, stages_of
from paretosoc.results.errors import ResultError
from tests.support.periodic_optima import least_period, least_prologue
from tests.support.problems.random_task_graphs import random_array, random_graph

GRAPHS = 10_000


def longest_path_ahead(schedule: PeriodicSchedule) -> list[int]:
    """The least r of a given placement by Bellman and Ford on the constraint graph (Leiserson and
    Saxe): the least integers with r(i) >= r(j) + ceil((d_i + c_ij - s_j) / c_p) and r >= 0."""
    tasks = repeated(schedule.graph, schedule.copies)
    constraints: nx.DiGraph[int] = nx.DiGraph()
    constraints.add_nodes_from(range(-1, len(tasks.tasks)))
    for number in range(len(tasks.tasks)):
        constraints.add_edge(-1, number, weight=0)
    for number, edge in enumerate(tasks.transfers):
        time = edge.cache_ps if number in schedule.cached else edge.memory_ps
        end = schedule.start_ps[edge.source] + tasks.tasks[edge.source].time_ps
        late = Fraction(end + time - schedule.start_ps[edge.target], schedule.period_ps)
        constraints.add_edge(edge.target, edge.source, weight=-(late.__ceil__()))
    lengths = nx.single_source_bellman_ford_path_length(constraints, -1)
    return [-int(lengths[number]) for number in range(len(tasks.tasks))]


def test_ten_thousand_random_graphs() -> None:
    met: Counter[str] = Counter()
    for seed in range(GRAPHS):
        graph, array = random_graph(seed, most_tasks=6), random_array(seed)
        best = mobile_i(graph, array, max_copies=1 + seed % 3)
        others = (memolution(graph, array, best.copies), sparta(graph, array, best.copies))
        for schedule in (best, *others):
            assert broken_rule(schedule) is None, (seed, schedule.method)
            assert schedule.period_ps >= schedule.least_period_ps
            if schedule.prologue_periods:
                assert schedule.prologue_periods >= schedule.least_prologue_periods
            met[f"{schedule.method} prologue"] += schedule.prologue_periods > 0
            met[f"{schedule.method} cached"] += bool(schedule.cached)
        met["copies"] += best.copies > 1
        met["shorter period"] += best.period_ps < others[0].period_ps
        met["longer period"] += best.period_ps > others[0].period_ps
        if seed % 10 == 0:
            for schedule in (best, others[0]):
                assert list(schedule.ahead) == longest_path_ahead(schedule), seed
    for kind in ("mobile-i prologue", "mobile-i cached", "memolution cached", "copies"):
        assert met[kind] > GRAPHS // 100, met
    assert met["sparta prologue"] == met["sparta cached"] == 0
    assert met["shorter period"] > 10 * met["longer period"], met


def test_a_period_in_which_everything_fits_needs_no_prologue() -> None:
    graph = TaskGraph("chain", (Task("a", 4), Task("b", 4)), (Transfer(0, 1, 1, 2, 1),))
    schedule = mobile_i(graph, EngineArray(1, 0), max_copies=1)
    assert (schedule.period_ps, schedule.ahead) == (8, (1, 0))
    # The transfer does not fit between the two on one engine; without it, it does.
    direct = TaskGraph("chain", graph.tasks, (Transfer(0, 1, 1, 0, 0),))
    assert mobile_i(direct, EngineArray(1, 0), max_copies=1).ahead == (0, 0)


def test_the_formulas_of_the_paper() -> None:
    graph = TaskGraph("two", (Task("a", 6, 10), Task("b", 3, 20)), (Transfer(0, 1, 0, 1, 1),))
    schedule = PeriodicSchedule(
        "by hand", graph, EngineArray(2, 0, 5), 1, 6, (0, 1), (0, 1), (1, 0), ()
    )
    assert broken_rule(schedule) is None
    assert schedule.utilisation == Fraction(9, 12)
    assert schedule.prologue_ps == 6
    assert schedule.latency_ps(10) == (1 + 10) * 6
    assert schedule.energy_fj(10) == 10 * (60 + 60) + 66 * 5
    assert replace(schedule, copies=1).latency_ps(1) == 12


def test_initial_schedule_puts_the_longest_first_until_the_engines_are_busy() -> None:
    graph = TaskGraph("g", tuple(Task(str(n), t) for n, t in enumerate((1, 5, 2, 5))), ())
    assert longest_first(graph) == [1, 3, 2, 0]
    assert longest_first(graph, 2) == [1, 3, 5, 7, 2, 6, 0, 4]
    copies, placement = initial_schedule(graph, 2)
    assert (copies, placement.period_ps) == (1, 7)
    # Three engines: 13 in one copy leaves them idle for too long, three copies are 39.
    assert initial_schedule(graph, 3, max_copies=1)[1].period_ps == 5
    copies, placement = initial_schedule(graph, 3)
    utilisation = Fraction(13 * copies, 3 * placement.period_ps)
    assert utilisation >= Fraction(92, 100)
    with pytest.raises(ResultError, match="at least one engine"):
        initial_schedule(graph, 0)


def test_critical_tasks_are_longer_than_alpha_times_the_longest() -> None:
    graph = TaskGraph("g", tuple(Task(str(n), t) for n, t in enumerate((8, 10, 9, 10))), ())
    assert critical_tasks(graph) == [3, 1, 2]
    assert critical_tasks(graph, Fraction(1)) == []


def test_reallocation_keeps_engines_and_period() -> None:
    for seed in range(300):
        graph, array = random_graph(seed), random_array(seed)
        before = place_in_order(graph, array.engines, longest_first(graph))
        after = reallocate(graph, before)
        assert (after.period_ps, after.engine) == (before.period_ps, before.engine)
        for engine in set(after.engine):
            runs = sorted(
                (start, start + task.time_ps)
                for start, task, place in zip(
                    after.start_ps, graph.tasks, after.engine, strict=True
                )
                if place == engine
            )
            assert runs[0][0] >= 0
            assert runs[-1][1] <= after.period_ps
            assert all(a[1] <= b[0] for a, b in pairwise(runs))


def test_stages_are_as_late_as_periods_allow() -> None:
    graph = TaskGraph(
        "chain",
        (Task("a", 3), Task("b", 6), Task("c", 3)),
        (Transfer(0, 1, 1, 1, 0), Transfer(1, 2, 1, 1, 0)),
    )
    # c ends at 0 and b, a transfer earlier, at -4: it fills its period to the border.
    assert stages_of(graph, 10) == [1, 0, 0]
    # Here b would cross -9 and a -18: they end there.
    assert stages_of(graph, 9) == [2, 1, 0]
    assert stages_of(graph, 10, stretch=120) == [2, 1, 0]
    assert stages_of(graph, 10, latest_ps=8) == [2, 1, 1]


def test_stages_shorten_the_prologue_and_the_latency() -> None:
    met: Counter[str] = Counter()
    for seed in range(400):
        graph, array = random_graph(seed), random_array(seed)
        alone = mobile_i(graph, array, max_copies=2, paper_only=True)
        both = mobile_i(graph, array, max_copies=2, inferences=100)
        assert both.latency_ps(100) <= alone.latency_ps(100)
        assert both.copies == alone.copies
        assert both.utilisation >= min(alone.utilisation, Fraction(92, 100))
        met["shorter"] += both.prologue_periods < alone.prologue_periods
        met["longer"] += both.prologue_periods > alone.prologue_periods
        for placement in staged_placements(graph, array.engines, 2, alone.period_ps):
            schedule = replace(
                alone,
                copies=2,
                period_ps=placement.period_ps,
                engine=placement.engine,
                start_ps=placement.start_ps,
                ahead=(0,) * len(placement.engine),
                cached=(),
            )
            schedule = replace(schedule, ahead=tuple(longest_path_ahead(schedule)))
            assert broken_rule(schedule) is None, seed
            met["placements"] += 1
    assert met["shorter"] > 20 > met["longer"], met
    assert met["placements"] > 400, met


def test_small_graphs_against_the_optimum() -> None:
    """Z3's least period and prologue are never above a heuristic's, and often the same."""
    periods: Counter[bool] = Counter()
    prologues: Counter[bool] = Counter()
    for seed in range(25):
        graph = random_graph(seed, most_tasks=5)
        array = EngineArray(2, 0)
        schedule = mobile_i(graph, array, max_copies=1)
        best = least_period(graph, 2)
        assert best is not None
        assert schedule.least_period_ps <= best <= schedule.period_ps
        # Longest first is within 4/3 - 1/(3 m) of the optimum (Graham 1969).
        assert schedule.period_ps <= best * Fraction(7, 6)
        periods[schedule.period_ps == best] += 1
        prologue = least_prologue(graph, 2, schedule.period_ps)
        assert prologue is not None
        assert prologue <= schedule.prologue_periods
        prologues[schedule.prologue_periods == prologue] += 1
        bound = least_prologue(graph, 2, schedule.period_ps, cached=True)
        assert bound is not None
        assert bound <= prologue
    assert periods[True] > periods[False]
    assert prologues[True] > prologues[False]


def test_a_thousand_tasks_on_64_engines() -> None:
    tasks = tuple(Task(str(n), 1000 + 7919 * n % 5000) for n in range(1000))
    transfers = tuple(
        Transfer(n, n + step, 100, 50, 5) for n in range(1000) for step in (1, 7) if n + step < 1000
    )
    schedule = mobile_i(TaskGraph("large", tasks, transfers), EngineArray(64, 1000))
    assert broken_rule(schedule) is None
    assert schedule.utilisation >= Fraction(92, 100)
