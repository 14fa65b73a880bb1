"""The cost model against other people's published measurements.

Usage: ``python -m benchmarks.validation [--only SET] [--json | --markdown]
[--pictures FOLDER]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.validation.scores import Score, score
from benchmarks.validation.sets import SETS, comparisons

COLUMNS = (
    Column("data", "set"),
    Column("fitted", "fitted to"),
    Column("law", "predicted by"),
    Column("points", "held out", "d"),
    Column("median", "median error", ".1%"),
    Column("p90", "90th percentile", ".1%"),
    Column("worst", "worst", ".1%"),
    Column("rank", "rank correlation", ".3f"),
)
BY_PROTOCOL = (
    *COLUMNS[:2],
    COLUMNS[3],
    Column("errors", "predicted by: median, worst error in %"),
)


def by_protocol(scores: Sequence[Score]) -> list[dict[str, Value]]:
    """Return a row for each set and protocol, with the errors of all its laws. A set is named
    once."""
    laws: dict[tuple[str, str, int], list[str]] = {}
    for one in scores:
        errors = f"{one.law} {100 * one.median:.1f}, {100 * one.worst:.1f}"
        laws.setdefault((one.data, one.fitted, one.points), []).append(errors)
    rows: list[dict[str, Value]] = []
    previous = None
    for (data, fitted, points), errors_of_laws in laws.items():
        name = "" if data == previous else data
        errors = "; ".join(errors_of_laws)
        rows.append({"data": name, "fitted": fitted, "points": points, "errors": errors})
        previous = data
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and draw a picture of each set if asked."""
    options = parser("benchmarks.validation", "The cost model against published measurements.")
    options.add_argument("--only", choices=SETS, metavar="SET", help=f"one of {', '.join(SETS)}")
    options.add_argument(
        "--markdown", action="store_true", help="print Markdown, a row per protocol"
    )
    options.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="write a picture of each set"
    )
    chosen = options.parse_args(arguments)
    found = comparisons(chosen.only)
    scores = [score(one) for one in found]
    show(
        "Predicted against published measurements",
        BY_PROTOCOL if chosen.markdown else COLUMNS,
        by_protocol(scores) if chosen.markdown else [asdict(one) for one in scores],
        as_json=chosen.json,
        as_markdown=chosen.markdown,
    )
    if chosen.pictures is not None:
        from benchmarks.validation.pictures import write_pictures

        write_pictures(found, chosen.pictures)


if __name__ == "__main__":
    main()
