"""``dse analyze costs`` and ``csdf``: what each group costs, and a member as a dataflow graph."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS, PS_PER_S
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option, refuse_options
from paretosoc.dse.cli.shared.terminal import open_console, print_json, show
from paretosoc.dse.inputs.kinds_by_name import Clocks
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.problem.domains import clocks_at
from paretosoc.dse.tools.analysis.csdf import MappedDataflow, mapped_dataflow
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.front.named_members import choose_member
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
        print_json(document)
        return

    console = open_console()
    console.print(cost_tables(problem, origins, points, figure=show.value, width=console.width))


def csdf(
    folder: opt.Folder,
    member: opt.MemberName = "knee",
    output: Annotated[
        Path | None, Option("--output", "-o", help="Output file: .json, or .xml for SDF3.")
    ] = None,
    in_order: Annotated[
        bool, Option("--in-order", help="Write the graph without software pipelining.")
    ] = False,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show a member as a dataflow graph with one actor per unit: phases, buffers, throughput."""
    if output is None and not as_json:
        refuse_options("needs --output or --json", "in_order")
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
        print_json(document | {"throughput": _dataflow_figures(result)})
        return
    _print_dataflow(result, index)
    origins = read_costs(folder, front.problem)
    for network in () if origins is None else origins.networks:
        if network.source.is_task and network.source.reference:
            print(f"Left out: initial tokens of {network.name}, which may let frames overlap less.")
    if output is not None:
        print(f"Written to {output}.")


def _dataflow_figures(result: MappedDataflow) -> dict[str, float | int]:
    return {
        "frames_per_second": float(PS_PER_S / result.period_ps),
        "in_order_frames_per_second": float(PS_PER_S / result.in_order_period_ps),
        "frames_ahead": result.frames_ahead,
    }


def _print_dataflow(result: MappedDataflow, index: int) -> None:
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
    show(table)
    figures = _dataflow_figures(result)
    print(
        f"Software-pipelined over {pluralize(result.frames_ahead + 1, 'frame')}: "
        f"{figures['frames_per_second']:.4g} frames/s, one frame for each largest load of a unit. "
        f"In order: {figures['in_order_frames_per_second']:.4g} frames/s."
    )
