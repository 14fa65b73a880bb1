"""``dse analyze``: costs, errors, limits of a front, and members as dataflow graphs."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Annotated

from rich.console import Console

import paretosoc as dse
from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.dse.cli.results.show import Resolution
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import busy, show
from paretosoc.dse.inputs.kinds_by_name import Clocks
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.problem.constraint_status import limit_and_value
from paretosoc.dse.problem.domains import clocks_at
from paretosoc.dse.tools.analysis.csdf import MappedDataflow, mapped_dataflow
from paretosoc.dse.tools.analysis.limits import LimitPrice, LimitPrices
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.front.named_members import choose_member
from paretosoc.results.io.canonical_json import finite_or_none
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.confidence import confidence_views, describe_costs
from paretosoc.results.text.costs import cost_rows, cost_tables
from paretosoc.sdf.formats.graph_json import format_graph_json
from paretosoc.sdf.formats.sdf3_writer import format_sdf3


class Figure(Enum):
    """Figure that the table shows. JSON has all."""

    TIME = "time"
    DEMAND = "demand"
    POWER = "power"


def costs(
    folder: opt.Folder,
    at: Annotated[
        list[str] | None,
        Option(help="Clock: DOMAIN=MHZ, DOMAIN=max or DOMAIN=min. Repeatable. [default: max]"),
    ] = None,
    show: Annotated[Figure, Option(help="Column to show.")] = Figure.TIME,
    as_json: opt.AsJson = False,
) -> None:
    """Show the cost of every group on every unit, and its origin."""
    problem = read_results(folder).problem
    origins = read_costs(folder, problem)
    points = clocks_at(problem, Clocks().parse(at or (), "--at"))
    if as_json:
        document = {
            "precision": None if origins is None else origins.precision,
            "clocks_mhz": {
                domain.name: domain.frequencies_khz[point] / 1000
                for domain, point in zip(problem.domains, points.tolist(), strict=True)
            },
            "groups": cost_rows(problem, origins, points),
        }
        print(json.dumps(document, indent=2))
        return

    console = Console(highlight=False)
    console.print(cost_tables(problem, origins, points, figure=show.value, width=console.width))


def csdf(
    folder: opt.Folder,
    member: opt.MemberName = "knee",
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Output file: .json, or .xml for SDF3."),
    ] = None,
    in_order: Annotated[
        bool, Option("--in-order", help="Write the graph without software pipelining.")
    ] = False,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show a member as a dataflow graph with one actor per unit: phases, buffers, throughput."""
    check_output_file(output, overwrite=force, suffixes=(".json", ".xml"))
    front = read_results(folder)
    index = choose_member(front, member)
    result = mapped_dataflow(front.problem, front.members[index].design, f"member{index}")
    graph = result.in_order if in_order else result.pipelined
    if output is not None:
        write = format_graph_json if output.suffix == ".json" else format_sdf3
        replace_file(output, write(graph).encode())
    if as_json:
        document = json.loads(format_graph_json(graph))
        print(json.dumps(document | {"throughput": _figures(result)}, indent=1))
        return
    _print(result, index)
    origins = read_costs(folder, front.problem)
    for network in () if origins is None else origins.networks:
        if network.source.is_task and network.source.reference:
            print(f"Left out: initial tokens of {network.name}, which may let frames overlap less.")
    if output is not None:
        print(f"Written to {output}.")


def _figures(result: MappedDataflow) -> dict[str, float | int]:
    return {
        "frames_per_second": float(PS_PER_S / result.period_ps),
        "in_order_frames_per_second": float(PS_PER_S / result.in_order_period_ps),
        "frames_ahead": result.frames_ahead,
    }


def _print(result: MappedDataflow, index: int) -> None:
    console = Console()
    graph = result.pipelined
    headings = ("actor", ">phases", ">load ms", "reads from", ">buffers in kB")
    table = plain_table(*headings, title=f"Member {index}: one actor per unit")
    for actor, load in zip(graph.actors, result.load_ps, strict=True):
        incoming = [channel for channel in graph.channels if channel.target == actor.name]
        sources = sorted({channel.source for channel in incoming} - {actor.name})
        size = sum((channel.capacity or 0) * channel.token_bytes for channel in incoming)
        table.add_row(
            actor.name,
            str(len(actor.phases)),
            f"{load / PS_PER_MS:.3f}",
            ", ".join(sources) or "-",
            f"{size / 1000:,.1f}",
        )
    console.print(table)
    figures = _figures(result)
    print(
        f"Software-pipelined over {result.frames_ahead + 1} frames: "
        f"{figures['frames_per_second']:.4g} frames/s, one in each largest load. "
        f"In order: {figures['in_order_frames_per_second']:.4g} frames/s."
    )


Goal = Annotated[
    str | None,
    Option(
        help="Goal: fastest, lowest-energy, knee, or the name of another objective's best. "
        "[default: all names of the front]"
    ),
]


def confidence(
    folder: opt.Folder,
    goal: Goal = None,
    draws: opt.Draws = 1000,
    seed: opt.Seed = 0,
    error: Annotated[
        float | None,
        Option(
            min=0,
            max=100,
            metavar="PERCENT",
            help="Standard error of every network's time on every unit, and of every group's "
            "share, in place of what is known of the costs.",
        ),
    ] = None,
    resolution: Resolution = None,
    as_json: opt.AsJson = False,
) -> None:
    """Say how sure a front's choices are if its costs are as far off as is known of them.

    All members are simulated with costs drawn from their errors: the interval of each choice's
    figures, how often it keeps the limits and is best for a goal, how much worse than the best it
    is in the mean, and what cannot be told apart.
    """
    front = dse.load(folder)
    with busy("simulating members with costs drawn from their errors"):
        found = front.confidence(
            goal,
            draws=draws,
            seed=seed,
            error=None if error is None else error / 100,
            resolution=None if resolution is None else resolution / 100,
        )
    if as_json:
        document = asdict(found)
        for choice in document["choices"]:
            for name, interval in choice["intervals"].items():
                choice["intervals"][name] = [finite_or_none(value) for value in interval]
        print(json.dumps(document, indent=2))
        return
    if error is None:
        show(" ".join(describe_costs(front.numeric, front.costs)))
    show(*confidence_views(front.numeric, found))


LEAST = 0.001
"""Smaller gains are called that."""


def limits(
    folder: opt.Folder,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Estimate how much better the front would be if one of its limits were relaxed.

    Runs one short search per limit, so the results are lower bounds on the benefit.
    """
    front = dse.load(folder)
    result = dse.limits(front, seed=seed).numeric
    if as_json:
        print(json.dumps(_prices_document(front.problem, result), indent=2))
    else:
        _print_prices(front.problem, result)


def _prices_document(problem: Problem, result: LimitPrices) -> dict[str, object]:
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


def _print_prices(problem: Problem, result: LimitPrices) -> None:
    if result.prices:
        table = plain_table("limit", "relaxed to", "best", "now", "then", "without the limit")
        for price in result.prices:
            table.add_row(*_price_cells(problem, price))
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


def _price_cells(problem: Problem, price: LimitPrice) -> tuple[str, ...]:
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
