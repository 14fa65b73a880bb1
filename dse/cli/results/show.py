"""``dse show``: the front in a result folder, or one of its members, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import paretosoc as dse
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import open_console, print_json
from paretosoc.dse.cli.shared.terminal import show as show_views
from paretosoc.dse.errors import WorkloadError

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
        bool, Option("--all", help="Print all members, or all rows of a schedule.")
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
    from paretosoc.common.tables import plain_table
    from paretosoc.dse.api.result import open_result
    from paretosoc.dse.workload.fields import split
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
    if chain:
        if not isinstance(result, dse.Front):
            raise WorkloadError(
                "--chain: the folder of one front of networks with rates is required"
            )
        for row in rows:
            member_of_row = result[row["member"]]
            row["reactions_ms"] = {one: member_of_row.reaction_ms(split(one)) for one in chain}
    if as_csv:
        _print_csv(rows)
        return
    if as_json:
        print_json(rows if member is None else rows[0])
        return
    views = (
        result.views(width=open_console().width, resolution=share)
        if member is None
        else result.member_views(member, all_rows=all_rows)
    )
    show_views(*views)
    if chain:
        heads = [f">{name.replace(',', ' to ')}\nwithin, ms" for name in chain]
        table = plain_table("member", *heads)
        for row in rows:
            found = row["reactions_ms"].values()
            cells = (OVERLOADED if ms is None else f"{ms:.2f}" for ms in found)
            table.add_row(str(row["member"]), *cells)
        show_views("", table)


def _print_csv(rows: list[dict[str, Any]]) -> None:
    """Print a line per member. Nested values have a column per entry, like ``clocks_mhz.gpu``."""
    from paretosoc.common.tables import csv_text

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
