"""``dse sdf``: the analyses of a dataflow graph in the XML format of SDF3."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import print_json, print_wrapped
from paretosoc.dse.inputs.kinds import Quantity
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.sdf.analysis.sdf_report import analyse, format_report, report_data
from paretosoc.sdf.formats import GRAPH_SUFFIX
from paretosoc.sdf.formats.graph_json import read_graph
from paretosoc.sdf.formats.sdf3_writer import format_sdf3


def sdf(
    file: Annotated[
        Path,
        Argument(
            help="Graph in SDF3 XML, of TGFF (.tgff), or as 'dse analyze csdf' writes it.",
            metavar="FILE",
        ),
    ],
    processor_type: Annotated[
        str | None,
        Option(help="Processor type for execution times. [default: each actor's default]"),
    ] = None,
    throughput: Annotated[
        str | None,
        Option(
            help="Throughput to size buffers for, in iterations per time unit. [default: the "
            "maximum]"
        ),
    ] = None,
    number: Annotated[
        int, Option("--graph", min=0, max=opt.MAX_COUNT, help="Task graph of a .tgff.")
    ] = 0,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Write the graph as SDF3 XML, for 'dse explore'."),
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show a graph's repetition vector, throughput and buffer sizes."""
    check_output_file(output, overwrite=force, suffixes=(GRAPH_SUFFIX,))
    graph = read_graph(file, number)
    wanted = None if throughput is None else Quantity().parse(throughput, "--throughput")
    report = analyse(graph, processor_type=processor_type, throughput=wanted)
    if output is not None:
        replace_file(output, format_sdf3(graph).encode())
    if as_json:
        print_json(report_data(report))
        return

    print_wrapped(format_report(report).splitlines())
    if output is not None:
        print(f"Written to {output}: {graph.name}, {pluralize(len(graph.actors), 'actor')}")
