"""What limits cost, against enumeration."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np

from paretosoc.dse.api.front import Front
from paretosoc.dse.api.limits import limits
from paretosoc.dse.cli.search.limits import _cells
from paretosoc.dse.engines.diagnose_infeasible import can_be_relaxed, lifted
from paretosoc.dse.tools.analysis.limits import LimitPrice, limit_prices
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.limits import Constraint, constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.dse.certificate.test_memory import drawn
from tests.support.problems import small_problems
from tests.support.problems.random_spaces import size_of, space_of

MAX_ROWS = 1500


def enumerated(problem: Problem, rows: np.ndarray, constraint: Constraint) -> list[LimitPrice]:
    """The prices of one limit, by all design points."""
    column = constraints_of(problem).index(constraint)
    outcomes = make_outcomes(problem)(rows)
    best = outcomes.objectives[outcomes.feasible].min(axis=0)
    free = make_outcomes(lifted(problem, constraint, None))(rows).feasible
    figures = outcomes.constraint_values[:, column]
    prices = []
    for j, now in enumerate(best.tolist()):
        better = free & (figures > constraint.limit) & (outcomes.objectives[:, j] < now)
        if better.any():
            least = int(figures[better].min())
            values = outcomes.objectives[:, j]
            then = int(values[better & (figures == least)].min())
            price = LimitPrice(constraint, j, now, least, then, int(values[better].min()))
            prices.append(price)
    return prices


def test_prices_are_those_of_enumeration() -> None:
    seen: Counter[str] = Counter()
    for seed in range(30):
        problem = drawn(seed)
        if size_of(problem) > MAX_ROWS:
            continue
        rows = space_of(problem).rows
        outcomes = make_outcomes(problem)(rows)
        objectives = outcomes.objectives[outcomes.feasible]
        if not len(objectives):
            continue
        front = rows[outcomes.feasible][non_dominated(objectives)]
        asked = [entry for entry in constraints_of(problem) if can_be_relaxed(entry)]
        result = limit_prices(problem, front)
        expected = [price for entry in asked for price in enumerated(problem, rows, entry)]
        assert list(result.prices) == expected, seed
        bind = {price.constraint for price in expected}
        assert list(result.free) == [entry for entry in asked if entry not in bind]
        seen.update(price.constraint.kind.words for price in expected)
        seen["free"] += len(result.free)
    assert len(seen) > 4, seen
    assert min(seen["memory"], seen["free"]) > 5, seen


def test_without_a_limit_of_misses_all_may_be_late() -> None:
    """Two releases of 2 ms with a deadline of 3 ms leave no room for 5 ms on their unit: beside
    them one is late, and both where they take 4 ms on the other unit."""
    ms = 10**9
    eye = replace(
        small_problems.network("eye", 0, 1, repeats=2),
        paced=True,
        deadline_ps=3 * ms,
        max_misses=0,
    )
    base = small_problems.problem(
        [eye, small_problems.network("map", 1, 1)], [[2 * ms, 4 * ms], [5 * ms, 9 * ms]]
    )
    objective = Objective(ObjectiveKind.RESPONSE, 1)
    problem = replace(base, execution=Rates(10 * ms), objectives=(objective,))
    (price,) = limit_prices(problem, np.array([[0, 1, 0]])).prices
    assert price.constraint.name == "misses of eye"
    found = (price.now, price.relaxed_to, price.then, price.without)
    assert found == (9 * ms, 1, 7 * ms, 5 * ms)


def test_the_command_says_which_limit_costs_how_much(dse, tmp_path) -> None:
    folder = tmp_path / "tight"
    command = ("explore", "alexnet", "mobilenet_v2", "-p", "jetson-agx-orin", "--groups", "4")
    done = dse(
        *(*command, "--objective", "latency", "--objective", "energy", "--limit", "memory-cap=100"),
        *("--max-transitions", "0", "--precision", "int8,fp16", "--max-nodes", "0"),
        *("--max-evaluations", "3000", "-o", folder, "--quiet"),
    )
    assert done.status == 0, done.err
    out = dse("analyze", "limits", folder).out
    assert "transitions of alexnet at most 0" in out
    assert "Nothing better was found beyond the limit of: " in out
    document = json.loads(dse("analyze", "limits", folder, "--json").out)
    assert "memory" in document["free"]
    (price,) = [entry for entry in document["prices"] if entry["objective"] == "energy_fj"]
    assert (price["limit"], price["at"], price["relaxed_to"]) == ("transitions of alexnet", 0, 1)
    assert price["without"] <= price["then"] < price["now"]
    again = [entry.now for entry in limits(Front.load(folder)).numeric.prices]
    assert again == [entry["now"] for entry in document["prices"]]


def test_what_was_nothing_has_no_share() -> None:
    """Of networks that run freely the slowest may not run at all."""
    found = drawn(0)
    problem = replace(found, objectives=(Objective(ObjectiveKind.FAIRNESS),))
    price = LimitPrice(
        constraints_of(found)[0], 0, now=0, relaxed_to=5, then=-(10**4), without=-(10**5)
    )
    assert _cells(problem, price)[3:] == ("0 %", "1.000 %", "10.00 %")


def test_deadlines_of_networks_with_rates_are_named_as_not_tried(dse, tmp_path) -> None:
    (tmp_path / "rates.yaml").write_text(
        "networks:\n- {name: detect, network: squeezenet, rate_hz: 20, deadline_ms: 50}\n",
        encoding="utf-8",
    )
    reason = "Not tried: response of detect: with rates a deadline also says what is late"
    for more, ending in (
        ((), [reason]),
        (
            ("--power-cap", "1000"),
            ["Nothing better was found beyond the limit of: power", reason],
        ),
    ):
        folder = tmp_path / str(len(more))
        done = dse(
            *("explore", tmp_path / "rates.yaml", "-p", "jetson-agx-xavier", "--groups", "3"),
            *("--objective", "response:detect", "--objective", "energy", "--max-nodes", "0", *more),
            *("--max-evaluations", "300", "-o", folder, "--quiet", "--max-transitions", "any"),
        )
        assert done.status == 0, done.err
        lines = dse("analyze", "limits", folder).out.splitlines()
        assert lines[: len(ending)] == ending
        document = json.loads(dse("analyze", "limits", folder, "--json").out)
        assert document["not_tried"] == ["response of detect"]


def test_a_front_without_limits_has_no_prices(dse, pair_folder) -> None:
    assert "No limit was asked for that can be relaxed" in dse("analyze", "limits", pair_folder).out
