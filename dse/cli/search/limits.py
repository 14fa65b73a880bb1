"""``dse analyze limits``: the price of each limit of a front."""

from __future__ import annotations

import paretosoc as dse
from paretosoc.common.tables import plain_table
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.terminal import print_json, show
from paretosoc.dse.problem.constraint_status import limit_and_value
from paretosoc.dse.tools.analysis.limits import LimitPrice, LimitPrices
from paretosoc.results.problem.problem import Problem

LEAST = 0.001
"""Smaller gains are called that."""


def limits(folder: opt.Folder, seed: opt.Seed = 0, as_json: opt.AsJson = False) -> None:
    """Estimate how much better the front would be if one of its limits were relaxed.

    Runs one short search per limit, so the results are lower bounds on the benefit.
    """
    front = dse.load(folder)
    result = dse.limits(front, seed=seed).numeric
    if as_json:
        print_json(_document(front.problem, result))
    else:
        _print(front.problem, result)


def _document(problem: Problem, result: LimitPrices) -> dict[str, object]:
    names = problem.objective_names
    return {
        "prices": [
            {
                "limit": price.constraint.name,
                "at": price.constraint.limit,
                "unit": price.constraint.unit,
                "objective": names[price.column],
                "now": price.now,
                "relaxed_to": price.relaxed_to,
                "then": price.then,
                "without": price.without,
            }
            for price in result.prices
        ],
        "free": [constraint.name for constraint in result.free],
        "not_tried": [constraint.name for constraint in result.not_tried],
    }


def _print(problem: Problem, result: LimitPrices) -> None:
    if result.prices:
        table = plain_table("limit", "relaxed to", "best", "now", "then", "without the limit")
        for price in result.prices:
            table.add_row(*_cells(problem, price))
        show(table)
    if result.free:
        names = ", ".join(constraint.name for constraint in result.free)
        show(f"Nothing better was found beyond the limit of: {names}")
    if result.not_tried:
        names = ", ".join(constraint.name for constraint in result.not_tried)
        show(f"Not tried: {names}: with rates a deadline also says what is late")
    if result.prices or result.free:
        show("Found by short searches, the other limits as they are; not proved")
    elif not result.not_tried:
        show("No limit was asked for that can be relaxed")


def _cells(problem: Problem, price: LimitPrice) -> tuple[str, ...]:
    constraint, objective = price.constraint, problem.objectives[price.column]
    limit, relaxed = limit_and_value(constraint, price.relaxed_to)
    now = objective.shown(price.now)

    def value(figure: int) -> str:
        text = objective.text(figure)
        if not now:
            return text
        change = objective.shown(figure) / now - 1
        share = f"{change:+.1%}" if abs(change) >= LEAST else f"under {LEAST:.1%}"
        return f"{text} ({share})"

    return (
        f"{constraint.name} {limit.removesuffix(' asked for')}",
        relaxed,
        objective.label(problem),
        objective.text(price.now),
        value(price.then),
        value(price.without),
    )
