"""``dse sdf``: the analyses of a dataflow graph in the XML format of SDF3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dse.cli.shared.options import AsJson
from dse.cli.shared.wrap import print_wrapped
from dse.workload.options import parse_positive
from sdf.analysis.sdf_report import analyse, format_report
from sdf.analysis.sdf_report_data import report_data
from sdf.formats.sdf3_xml import read_sdf3


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("sdf")(sdf)


def sdf(
    file: Annotated[Path, typer.Argument(help="A graph in SDF3's XML.", metavar="FILE.xml")],
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

    wanted = None if throughput is None else parse_positive(throughput, "--throughput")
    report = analyse(read_sdf3(file), processor_type=processor_type, throughput=wanted)
    if as_json:
        print(json.dumps(report_data(report), indent=2))
        return

    print_wrapped(format_report(report).splitlines())
