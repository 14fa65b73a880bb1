"""Where work of networks with rates piles up: who makes it, and no figures of it."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.engines.diagnose_infeasible import explain_infeasible
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.export.report import report_html
from paretosoc.results.export.report_data import report_data
from paretosoc.results.front.front import BaselinePoint
from paretosoc.results.plots.bars import baseline_marks, unnamed_baselines
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.front import front_table
from paretosoc.results.text.rates import describe_loads, response_lines
from tests.support.problems import small_problems

MS = 10**9


def two_networks(times):
    """A period of 10 ms; the first network is released twice in it, the second once."""
    networks = [
        dataclasses.replace(small_problems.network("eye", 0, 1, repeats=2), paced=True),
        small_problems.network("map", 1, 1),
    ]
    return dataclasses.replace(
        small_problems.problem(networks, [[MS * time for time in row] for row in times]),
        execution=Rates(10 * MS),
        objectives=(
            Objective(ObjectiveKind.RESPONSE, 0),
            Objective(ObjectiveKind.POWER),
        ),
    )


def test_the_message_names_unit_and_networks():
    """Of 2 x 4 + 5 ms on the first unit and 2 x 9 + 7 on the second 18 and 5 are most even."""
    problem = two_networks([[9, 9], [5, 7]])
    engine = Nsga2Engine(DesignSpace(problem), seed=0)
    result = search(engine, make_outcomes(problem), Budget(4))
    text = explain_infeasible(problem, result, seed=0)
    assert "overloaded: nothing recurs within 32 periods of 10 ms" in text
    assert "in a period of 10.00 ms there are 18.00 ms of work on" in text
    assert "(eye 18.00 ms)" in text
    assert "map" not in text
    without = explain_infeasible(problem, result, seed=0, probe=False)
    assert "ms of work" not in without


def test_loads_name_every_unit_that_has_too_much():
    problem = two_networks([[6, 9], [5, 11]])
    (member,) = make_members(problem, *played(problem, [0, 1, 0]))
    line = describe_loads(problem, member.design)
    assert line == (
        "in a period of 10.00 ms there are 12.00 ms of work on unit0 (eye 12.00 ms) and 11.00 ms "
        "of work on unit1 (map 11.00 ms)"
    )
    assert response_lines(problem, member)[1] == line
    # 4 + 4 fit: nothing is too much for a unit alone.
    fits = two_networks([[4, 9], [1, 11]])
    (member,) = make_members(fits, *played(fits, [0, 0, 0]))
    assert describe_loads(fits, member.design).endswith(
        "9.000 ms of work on unit0 (eye 8.000 ms, map 1.000 ms); contention, transitions and "
        "waiting take the rest"
    )


def played(problem, row):
    rows = np.array([row])
    return rows, make_outcomes(problem)(rows).objectives


@pytest.fixture
def front():
    """One member; another method puts all on the slow unit."""
    problem = two_networks([[2, 9], [5, 7]])
    (slow,) = make_members(problem, *played(problem, [1, 1, 0]))
    assert slow.is_overloaded
    other = BaselinePoint("slow", "Slow", ("time until all recurs",), member=slow)
    return seed_front(problem, np.array([[0, 0, 0]]), engine="test", baselines=(other,))


def text_of(table):
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_tables_and_pictures_have_no_figures_of_it(front):
    assert "Other methods: Slow overloaded." in text_of(front_table(front))
    assert baseline_marks(front, [7.0], [1.0]) == ()
    assert unnamed_baselines(front, (), ()) == "Out of sight: Slow (overloaded)"
    data = report_data(front, schedule_of)
    (point,) = list[Any](data["baselines"])
    assert (point["overloaded"], point["responses"]) == (True, None)
    assert point["objectives"] == [None, None]
    assert data["members"][0]["overloaded"] is False


def test_the_report_says_so_and_has_responses_of_members(front, open_page):
    with open_page(report_html(front, schedule_of)) as page:
        assert "Slow (overloaded)" in page.locator("#plot-legend").inner_text()
        assert page.locator("g.cross").count() == 0
        heads = page.locator("#table th").all_inner_texts()
        assert "response of map, ms" in [head.lower() for head in heads]
        own, other = page.locator("#table tbody tr").all_inner_texts()
        # The other network's response is an objective.
        assert own.split("\t")[5] == f"{front.members[0].latencies_ps[1] / MS:.3f}"
        assert "other method, overloaded" in other
        page.locator("tr[data-row='1'] button").press("Enter")
        panel = page.locator("article").inner_text()
        assert "overloaded" in panel
        assert "Response of" not in panel
