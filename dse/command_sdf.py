"""``dse sdf``: the analyses of a dataflow graph in the XML format of SDF3."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.command_options import AsJson


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("sdf")(sdf)


def sdf(
    file: Annotated[
        Path,
        typer.Argument(help="A graph in SDF3's XML, or as dse csdf writes it.", metavar="FILE"),
    ],
    processor_type: Annotated[
        str | None,
        typer.Option(help="Execution times on this type. [default: each actor's own default]"),
    ] = None,
    throughput: Annotated[
        str | None,
        typer.Option(
            help="Iterations per time unit, as a number or a fraction, to find buffers for. "
            "[default: the highest]"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a graph's repetition vector, throughput and buffer sizes."""
    from dse.options import parse_positive
    from sdf.graph_file import read_graph
    from sdf.sdf_report import analyse, format_report

    wanted = None if throughput is None else parse_positive(throughput, "--throughput")
    report = analyse(read_graph(file), processor_type=processor_type, throughput=wanted)
    if as_json:
        import json

        from sdf.sdf_report_data import report_data

        print(json.dumps(report_data(report), indent=2))
        return
    from dse.wrapped_lines import print_wrapped

    print_wrapped(format_report(report).splitlines())
