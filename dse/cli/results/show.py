"""``dse show``, ``dse compare``: a front or one of its members, as a table or as JSON, and two
fronts side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import paretosoc as dse
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.errors import WorkloadError
from paretosoc.results.problem.objectives import format_number

if TYPE_CHECKING:
    from paretosoc.dse.api.result import Result
    from paretosoc.results.front.front import Front
    from paretosoc.results.text.compare_fronts import FrontComparison, FrontSide


Resolution = Annotated[
    float | None,
    Option(
        min=0,
        max=99,
        metavar="PERCENT",
        help="Every member is within this of a choice in every objective. [default: 1, or as much "
        "as leaves few choices]",
    ),
]


def show(
    folder: opt.Folder,
    member: Annotated[
        str | None,
        Option(
            "--member",
            help="Show one member: an index, or a name such as fastest, knee or lowest-energy.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
    as_csv: Annotated[
        bool, Option("--csv", help="Print the choices as CSV, or all members with --all.")
    ] = False,
    all_rows: Annotated[
        bool,
        Option("--all", help="Print all members, or all rows of a schedule."),
    ] = False,
    resolution: Resolution = None,
    chain: Annotated[
        list[str] | None,
        Option(
            metavar="NETWORK,NETWORK,...",
            help="Bound the reaction time along these networks with rates, each of which reads the "
            "one before it. Repeatable.",
        ),
    ] = None,
) -> None:
    """Show the front in a result folder, or one of its members.

    Of a front its choices are shown: named members and the fewest others that stand for all.
    """
    from rich.console import Console

    from paretosoc.common.text import plain_table
    from paretosoc.dse.api.result import open_result
    from paretosoc.results.text.rates import OVERLOADED

    if as_csv and (as_json or member is not None):
        raise WorkloadError("--csv: prints the front, without --json and --member")
    if resolution is not None and (all_rows or member is not None):
        raise WorkloadError("--resolution: is for choices of the front, without --all and --member")
    share = 0.0 if all_rows else None if resolution is None else resolution / 100
    result = open_result(folder)
    rows: list[dict[str, Any]] = []
    if as_csv or as_json or chain:
        rows = result.rows(share) if member is None else [result.member_document(member)]
    for row in rows if chain else ():
        row["reactions_ms"] = _reactions(result, row["member"], chain or ())
    if as_csv:
        _print_csv(rows)
        return
    if as_json:
        print(json.dumps(rows if member is None else rows[0], indent=2))
        return
    console = Console(highlight=False)
    views = (
        result.views(width=console.width, resolution=share)
        if member is None
        else result.member_views(member, all_rows=all_rows)
    )
    for view in views:
        console.print(view)
    if chain:
        heads = [f">{name.replace(',', ' to ')}\nwithin, ms" for name in chain]
        table = plain_table("member", *heads)
        for row in rows:
            found = row["reactions_ms"].values()
            cells = (OVERLOADED if ms is None else f"{ms:.2f}" for ms in found)
            table.add_row(str(row["member"]), *cells)
        console.print()
        console.print(table)


def _reactions(result: Result, member: int, chains: Sequence[str]) -> dict[str, float | None]:
    from paretosoc.dse.workload.fields import split

    if not isinstance(result, dse.Front):
        raise WorkloadError("--chain: the folder of one front of networks with rates is required")
    return {chain: result[member].reaction_ms(split(chain)) for chain in chains}


def _print_csv(rows: list[dict[str, Any]]) -> None:
    """Print a line per member. Nested values have a column per entry, like ``clocks_mhz.gpu``."""
    from paretosoc.common.text import csv_text

    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(column for row in flat for column in row))
    print(csv_text(columns, ([row.get(name, "") for name in columns] for row in flat)), end="")


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            flat[f"{prefix}{key}"] = text
    return flat


def compare(
    first: Annotated[Path, Argument(help="A result folder.", metavar="A")],
    second: Annotated[Path, Argument(help="Result folder to compare with.", metavar="B")],
    as_json: opt.AsJson = False,
    as_markdown: Annotated[bool, Option("--markdown", help="Print the table in Markdown.")] = False,
) -> None:
    """Compare two fronts: hypervolume, coverage, and the members that only one of them has."""
    from paretosoc.results.export.result_folder import read_results
    from paretosoc.results.text.compare_fronts import compare_fronts

    fronts = read_results(first), read_results(second)
    comparison = compare_fronts(*fronts)
    if as_json:
        from dataclasses import asdict

        print(json.dumps(asdict(comparison), indent=2))
        return
    _print(comparison, fronts, (str(first), str(second)), as_markdown=as_markdown)


def _print(
    comparison: FrontComparison,
    fronts: tuple[Front, Front],
    folders: tuple[str, str],
    *,
    as_markdown: bool,
) -> None:
    from rich import box
    from rich.console import Console

    from paretosoc.common.text import plain_table

    console = Console(highlight=False)
    sides = (comparison.first, comparison.second)
    console.print(f"A: {folders[0]}\nB: {folders[1]}")
    if comparison.differences:
        console.print("\nThese are not the same problem; they differ in", style="bold")
        for text in comparison.differences:
            console.print(f"  {text}", markup=False)
    console.print()
    table = plain_table("", ">A", ">B")
    if as_markdown:
        table.box, table.show_edge, table.pad_edge = box.MARKDOWN, True, True
    table.add_row("members", *(str(side.members) for side in sides))
    table.add_row(
        "hypervolume, of that of both together", *(f"{100 * s.hypervolume:.3f} %" for s in sides)
    )
    table.add_row(
        "members of the other that it covers", *(f"{100 * s.coverage:.1f} %" for s in sides)
    )
    table.add_row("members that the other dominates", *(str(len(s.dominated)) for s in sides))
    table.add_row("members that both have", *(str(len(s.shared)) for s in sides))
    table.add_row("members that the other lacks", *(str(len(s.own)) for s in sides))
    table.add_row(
        "additive epsilon, of the objectives' ranges",
        *(f"{100 * s.additive_epsilon:+.3f} %" for s in sides),
    )
    if comparison.first.multiplicative_epsilon is not None:
        table.add_row("multiplicative epsilon", *(f"{s.multiplicative_epsilon:.5f}" for s in sides))
    problems = [front.problem for front in fronts]
    for place, objective in enumerate(problems[0].objectives):
        label = objective.label(problems[0])
        values = objective.format([side.best[place] for side in sides])
        table.add_row(f"best {label}, {objective.heading(*problems)}", *values)
    if any(side.fairness_ppm is not None for side in sides):
        table.add_row(
            "slowest network, of its rate alone", *(_range_of_shares(side) for side in sides)
        )
    console.print(table)
    console.print()
    for name, other, side in (("A", "B", sides[0]), ("B", "A", sides[1])):
        for what, members in (
            (f"{name}'s members that {other} dominates", side.dominated),
            (f"{name}'s members that {other} lacks", side.own),
        ):
            console.print(f"{what}: {_ranges(members)}", markup=False)


def _range_of_shares(side: FrontSide) -> str:
    """Format the range over the members, such as ``0.02 to 41.3 %``."""
    if side.fairness_ppm is None:
        return "in a common frame"
    least, most = (format_number(ppm / 10**4) for ppm in side.fairness_ppm)
    return f"{least} %" if least == most else f"{least} to {most} %"


def _ranges(members: tuple[int, ...]) -> str:
    """Format positions as ranges, such as ``0-4, 7``."""
    parts: list[list[int]] = []
    for member in members:
        if parts and parts[-1][1] == member - 1:
            parts[-1][1] = member
        else:
            parts.append([member, member])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts) or "none"
