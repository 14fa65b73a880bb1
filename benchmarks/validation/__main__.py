"""The cost model against other people's published measurements.

Usage: ``python -m benchmarks.validation [--json | --markdown] [--pictures FOLDER]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.harness.report import Column, parser, show
from benchmarks.validation.scores import score
from benchmarks.validation.sets import comparisons

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table; draws a picture of each set where asked."""
    options = parser("benchmarks.validation", "The cost model against published measurements.")
    options.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="write a picture of each set"
    )
    chosen = options.parse_args(arguments)
    found = comparisons()
    show(
        "Predicted against published measurements",
        COLUMNS,
        [asdict(score(one)) for one in found],
        as_json=chosen.json,
        as_markdown=chosen.markdown,
    )
    if chosen.pictures is not None:
        from benchmarks.validation.pictures import write_pictures

        write_pictures(found, chosen.pictures)


if __name__ == "__main__":
    main()
