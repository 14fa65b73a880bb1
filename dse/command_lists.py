"""``dse networks`` and ``dse platforms``: what can be asked for by name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("networks")(networks)
    app.command("platforms")(platforms)


def networks(as_json: AsJson = False) -> None:
    """List the networks of the catalogue."""
    from sdf.catalogue import catalogue

    _print(
        [
            {
                "name": entry.name,
                "input": "x".join(str(size) for size in entry.input_shape),
                "description": entry.description,
                "origin": entry.origin,
            }
            for entry in catalogue()
        ],
        as_json=as_json,
    )


def platforms(as_json: AsJson = False) -> None:
    """List the platforms that come with the program."""
    from platforms.platform_file import load_platform, platform_names

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


def _print(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for key in rows[0]:
        table.add_column(key, overflow="fold", no_wrap=key == "name")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console().print(table)
