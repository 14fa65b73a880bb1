"""``dse network``: the layers of a network, and the places at which it can be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import open_console, print_json, show
from paretosoc.dse.errors import WorkloadError

if TYPE_CHECKING:
    from rich.table import Table

    from paretosoc.common.arrays import IntArray
    from paretosoc.results.costs.cost_origins import CostOrigins
    from paretosoc.results.problem.problem import Problem
    from paretosoc.sdf.grouping.summary import NetworkSummary


_MAX_TENSORS = 8
"""Inputs, or outputs, that are printed; a cache has two for every layer."""


def network(
    source: Annotated[
        str, Argument(help="A name (see 'dse networks') or an .onnx file.", metavar="NAME|FILE")
    ],
    platform: Annotated[
        str | None,
        Option(
            "--platform",
            "-p",
            help="Platform whose costs are shown: what each group takes on each unit at the "
            "fastest clocks, and the whole network. A name (see 'dse platforms') or a JSON file, "
            "followed by @MODE for one of its power modes.",
        ),
    ] = None,
    precision: opt.Precision = None,
    dim: opt.Dimensions = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a network's layers, operations, sizes and legal cuts, and its costs on a board."""
    from paretosoc.dse.workload.workload_file import is_workload_file
    from paretosoc.sdf.catalogue.catalogue import load_network
    from paretosoc.sdf.grouping.summary import summarise

    if is_workload_file(source):
        raise WorkloadError(f"{source}: is a workload file: one of its networks is required")
    dimensions = opt.sizes_of(dim, source)
    network = load_network(source, dimensions=dimensions)
    if platform is None and precision is not None:
        raise WorkloadError("--precision: needs --platform")
    on = None if platform is None else _on_board(source, platform, precision, dim)
    formats = () if on is None else on[1].precision.split(",")
    summary = summarise(network, in_int8="int8" in formats)
    if as_json:
        from paretosoc.results.text.costs import cost_rows

        costs = {} if on is None else {"groups_on_units": cost_rows(*on)}
        print_json(network_data(summary) | costs)
        return
    _print(summary, with_groups=on is None)
    if on is not None:
        from paretosoc.results.text.costs import cost_tables

        show("", cost_tables(*on, width=open_console().width))


def _on_board(
    source: str, platform: str, precision: str | None, dim: list[str] | None
) -> tuple[Problem, CostOrigins, IntArray]:
    """Return the network alone on all units of a board, whatever runtimes serve, the origins of its
    costs, and the fastest operating points [domains]."""
    from paretosoc.dse.api import problem as api
    from paretosoc.dse.problem.domains import clocks_at
    from paretosoc.dse.workload.read_options import parse_options
    from paretosoc.dse.workload.workload_file import workload_from
    from paretosoc.platforms.io.platform_file import load_platform

    options = parse_options({"runtime": "none", "precision": precision, "dimensions": dim})
    found = api.Problem.from_options(workload_from([source]), load_platform(platform), options)
    return found.numeric, found.costs, clocks_at(found.numeric, ())


def network_data(summary: NetworkSummary) -> dict[str, Any]:
    """Return the summary as JSON types."""
    from dataclasses import asdict

    return {
        **asdict(summary),
        "inputs": [{"name": name, "shape": list(shape)} for name, shape in summary.inputs],
        "outputs": [{"name": name, "shape": list(shape)} for name, shape in summary.outputs],
        "operations": dict(summary.operations),
        "constant_operations": dict(summary.constant_operations),
    }


def _print(summary: NetworkSummary, *, with_groups: bool) -> None:
    """Print the summary. The default cut is left out if the groups on a board follow, which may be
    others: layers that a unit cannot run are kept apart."""

    def shapes(tensors: tuple[tuple[str, tuple[int, ...]], ...]) -> str:
        texts = [f"{name} {'x'.join(map(str, shape)) or 'scalar'}" for name, shape in tensors]
        if len(texts) <= _MAX_TENSORS:
            return ", ".join(texts)
        shown = ", ".join(texts[:_MAX_TENSORS])
        return f"{shown}, and {len(texts) - _MAX_TENSORS} more (all with --json)"

    def counts(operations: tuple[tuple[str, int], ...]) -> str:
        return ", ".join(f"{name} {count}" for name, count in operations) or "none"

    held = ""
    if summary.held_bytes > summary.parameter_bytes:
        held = f" are read, memory holds {with_prefix(summary.held_bytes)}B"
    lines = [
        f"{summary.name}: {pluralize(summary.layers, 'layer')}, {with_prefix(summary.macs)}MAC, "
        f"{with_prefix(summary.parameters).strip()} parameters "
        f"({with_prefix(summary.parameter_bytes)}B{held}), "
        f"{with_prefix(summary.activation_bytes)}B written, "
        f"at {summary.bytes_per_element} bytes an element",
        f"inputs: {shapes(summary.inputs)}",
        f"outputs: {shapes(summary.outputs)}",
    ]
    show("\n".join(lines))
    print()
    show(_kinds(summary))
    print()
    lines = [
        f"operations: {counts(summary.operations)}",
        f"legal cuts: {len(summary.legal_cuts)}; fused layers stay together at "
        + (
            f"{len(kept)} of them: before {'layer' if len(kept) == 1 else 'layers'} {_listed(kept)}"
            if (kept := summary.transition_points)
            else "none of them"
        ),
        *([_groups(summary)] if with_groups else []),
        *(f"note: {warning}" for warning in summary.warnings),
    ]
    show("\n".join(lines))


def _groups(summary: NetworkSummary) -> str:
    """Return the default cut of the network, and the layers that no cut can help."""
    from paretosoc.sdf.grouping.grouping import MAX_SHARE

    text = (
        f"groups: {summary.groups}, {pluralize(summary.group_edges, 'hand-over')}; the largest, "
        f"{summary.largest_group}, holds {summary.largest_group_share:.0%} of the work "
        "(multiply-accumulates and moved elements)"
    )
    if summary.largest_group_share <= 1 / MAX_SHARE or summary.groups == 1:
        return text
    if summary.largest_group_layers == 1:
        return f"{text}, because a layer cannot be cut"
    return f"{text}, because its {summary.largest_group_layers} layers are fused by runtimes"


def _kinds(summary: NetworkSummary) -> Table:
    from paretosoc.common.tables import plain_table

    figures = (">layers", ">MACs", ">share", ">parameters", ">elements written")
    table = plain_table("kind", *figures)
    for kind in summary.kinds:
        share = f"{kind.macs / summary.macs:.1%}" if kind.macs else ""
        table.add_row(
            kind.kind,
            str(kind.layers),
            with_prefix(kind.macs) if kind.macs else "",
            share,
            with_prefix(kind.parameters) if kind.parameters else "",
            with_prefix(kind.output_elements),
        )
    return table


def with_prefix(count: int, digits: int = 4) -> str:
    """Return a count with a decimal prefix: ``1.428 G``."""
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        # 999.9 k in three digits is 1 M.
        if float(text := f"{count / 10**power:.{digits}g}") >= 1:
            return f"{text} {prefix}"
    return f"{count} "


def _listed(numbers: tuple[int, ...], most: int = 40) -> str:
    text = ", ".join(map(str, numbers[:most]))
    return text if len(numbers) <= most else f"{text}, ... (all with --json)"
