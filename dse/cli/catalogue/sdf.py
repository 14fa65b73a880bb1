"""``dse sdf``: the analyses of a dataflow graph in the XML format of SDF3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.terminal import print_wrapped
from paretosoc.dse.inputs.kinds import Quantity
from paretosoc.sdf.analysis.sdf_report import analyse, format_report, report_data
from paretosoc.sdf.formats.graph_json import read_graph


def sdf(
    file: Annotated[
        Path,
        typer.Argument(
            help="Graph in SDF3 XML, or as 'dse analyze csdf' writes it.", metavar="FILE"
        ),
    ],
    processor_type: Annotated[
        str | None,
        typer.Option(help="Processor type for execution times. [default: each actor's default]"),
    ] = None,
    throughput: Annotated[
        str | None,
        typer.Option(
            help="Throughput to size buffers for, in iterations per time unit. [default: the "
            "maximum]"
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a graph's repetition vector, throughput and buffer sizes."""

    wanted = None if throughput is None else Quantity().parse(throughput, "--throughput")
    report = analyse(read_graph(file), processor_type=processor_type, throughput=wanted)
    if as_json:
        print(json.dumps(report_data(report), indent=2))
        return

    print_wrapped(format_report(report).splitlines())
