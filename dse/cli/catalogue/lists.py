"""``dse networks``, ``dse platforms`` and ``dse platform``: named networks and chips."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import open_console, print_json, print_wrapped, say, show
from paretosoc.dse.errors import WorkloadError

if TYPE_CHECKING:
    from rich.table import Table

    from paretosoc.sdf.catalogue.catalogue import CatalogueEntry


_GAP = 2
_COUNTS = frozenset({"MACs", "parameters"})
_MIN_WIDTH = 20
"""A column that does not fit is wrapped if it keeps this many characters."""


def networks(
    family: Annotated[
        str | None, Option("--family", help="List one family only, such as ResNet.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the networks of the catalogue, by family."""
    from paretosoc.dse.cli.catalogue.network import with_prefix
    from paretosoc.sdf.catalogue.catalogue import catalogue
    from paretosoc.sdf.errors import GraphError

    entries = sorted(catalogue(), key=lambda entry: (entry.family.lower(), entry.name))
    families = list(dict.fromkeys(entry.family for entry in entries))
    if family is not None:
        entries = [entry for entry in entries if entry.family.lower() == family.lower()]
        if not entries:
            raise GraphError(f"no family {family!r}; there are {', '.join(families)}")
    _print(
        [
            {
                "name": entry.name,
                "family": entry.family,
                "input": "x".join(str(size) for size in entry.input_shape),
                "MACs": entry.macs if as_json else with_prefix(entry.macs, 3),
                "parameters": entry.parameters if as_json else with_prefix(entry.parameters, 3),
                "accuracy": _accuracy(entry, as_json=as_json),
                "description": entry.description,
                "origin": entry.origin,
            }
            for entry in entries
        ],
        as_json=as_json,
    )


def _accuracy(entry: CatalogueEntry, *, as_json: bool) -> Any:
    accuracy = entry.accuracy
    if as_json:
        return None if accuracy is None else asdict(accuracy)
    return "" if accuracy is None else f"{accuracy.percent:g} {accuracy.metric.split()[1]}"


def platforms(as_json: opt.AsJson = False) -> None:
    """List the platforms that come with the program."""
    from paretosoc.platforms.io.platform_file import load_platform, platform_names

    chips = [load_platform(name) for name in platform_names()]
    _print(
        [
            {
                "name": chip.name,
                "title": chip.title,
                "units": ", ".join(unit.name for unit in chip.units),
                "clocks": ", ".join(
                    f"{domain.name} ({len(domain.operating_points)})" for domain in chip.domains
                ),
            }
            for chip in chips
        ],
        as_json=as_json,
    )


def platform(
    name: Annotated[
        str | None,
        Argument(
            help="Platform: a name (see 'dse platforms') or a JSON file.", metavar="NAME|FILE"
        ),
    ] = None,
    as_json: opt.AsJson = False,
    source: Annotated[
        bool, Option("--source", help="Print a complete file to edit instead.")
    ] = False,
    new: Annotated[
        bool, Option("--new", help="Print a file to start from instead; no NAME.")
    ] = False,
) -> None:
    """Show a platform's clocks, units, power and measurements, with sources in --json."""
    from paretosoc.dse.problem.warnings import platform_warnings
    from paretosoc.platforms.io.platform_file import (
        load_platform,
        new_platform_source,
        platform_source,
    )
    from paretosoc.platforms.platform_summary import platform_data, platform_lines

    if new != (name is None) or as_json + source + new > 1:
        raise WorkloadError("NAME with at most one of --json and --source, or --new, is required")
    if name is None:
        print(new_platform_source(), end="")
        return
    chip = load_platform(name)
    for warning in platform_warnings(chip):
        say(f"warning: {warning}")
    if source:
        print(platform_source(name), end="")
        return
    if as_json:
        print_json(platform_data(chip))
        return

    print_wrapped(platform_lines(chip))


def _print(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return

    table, left_out = list_table(rows, open_console().width)
    show(table)
    if left_out:
        show(f"not shown at this width: {', '.join(left_out)} (--json shows all)")


def list_table(rows: list[dict[str, Any]], width: int) -> tuple[Table, list[str]]:
    """Return the rows as a table that fits ``width``, and the names of the columns left out.

    Columns are added as long as they fit. The next one gets the remaining width, with its texts
    wrapped, if that is not too narrow.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    names = list(rows[0])
    shown = 0
    left = width
    for name in names:
        needed = max(len(name), *(len(str(row[name])) for row in rows))
        if needed > left and left < _MIN_WIDTH:
            break
        justify: Literal["left", "right"] = "right" if name in _COUNTS else "left"
        table.add_column(name, justify=justify, no_wrap=needed <= left, max_width=min(needed, left))
        left -= needed + _GAP
        shown += 1
    for row in rows:
        table.add_row(*(str(row[name]) for name in names[:shown]))
    return table, names[shown:]
