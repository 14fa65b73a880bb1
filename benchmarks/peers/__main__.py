"""Other programs beside ours, on the same work and in one sitting: the table of the README.

Programs that can be installed are, each in an environment of its own, below the user's cache or
``--environments``. The others are named with the reason. The work, on one thread each:

- the front of the reference problem (``benchmarks/problems/reference_problem.py``): the share of
  the exact front's hypervolume after ``--seconds``, median of ``--seeds``, and evaluations per
  second;
- the fastest schedule of HaX-CoNN's public sample, at most one change of unit per network: seconds
  until it is found (searches) or proved (exact programs).

Searches of other programs simulate by our simulator, too. The solver of HaX-CoNN is no package: our
encoding of its equations stands for it.

Usage: ``python -m benchmarks.peers [--json | --markdown] [--seconds 1] [--seeds 10] [--only NAME]
[--environments DIR]``
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.peers.environment import ROOT, NotAvailable, Peer, ask
from paretosoc.common.cache import user_cache

PROGRAMS = "benchmarks.peers.programs"
TIME_LIMIT_S = 300.0
COLUMNS = (
    Column("program", "program"),
    Column("version", "version"),
    Column("design_points_per_second", "design points /s", ",.0f"),
    Column("optimum_s", "time to the optimum, s", ".3f"),
    Column("share_percent", "hypervolume at equal time, %", ".3f"),
    Column("proved", "proved"),
)


def peers(seconds: float, seeds: int) -> tuple[Peer, ...]:
    """Return all programs, ours first. The sample's time limit is that of the searches."""
    limits = (f"{seconds:g}", str(seeds))
    return (
        Peer("paretosoc exact", (), f"{PROGRAMS}.exact"),
        Peer("paretosoc nsga2", (), f"{PROGRAMS}.search", ("nsga2", *limits)),
        Peer("pymoo NSGA-II", (str(ROOT), "pymoo"), f"{PROGRAMS}.search", ("pymoo-nsga2", *limits)),
        Peer("HaX-CoNN equations", (), f"{PROGRAMS}.hax_conn"),
        Peer("CP-SAT", (str(ROOT), "ortools"), f"{PROGRAMS}.cp_sat", ("60",)),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    options = parser("benchmarks.peers", "Other programs beside ours, in one sitting.")
    options.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options.add_argument("--seconds", type=float, default=1.0, help="of a search [default: 1]")
    options.add_argument("--seeds", type=int, default=10, help="searches each [default: 10]")
    options.add_argument(
        "--environments",
        type=Path,
        default=user_cache() / "peers",
        metavar="DIR",
        help="folder of the environments [default: %(default)s]",
    )
    options.add_argument("--only", action="append", metavar="NAME", help="only this program")
    chosen = options.parse_args(arguments)
    names = [peer.name for peer in peers(chosen.seconds, chosen.seeds)]
    for name in chosen.only or ():
        if name not in names:
            options.error(
                f"--only: {name!r} must be one of {', '.join(names)}. mocasin cannot be: it is not "
                "on PyPI, and its repository asks for Python below 3.11"
            )
    load = os.getloadavg()[0]
    rows = [
        _row(peer, chosen.environments)
        for peer in peers(chosen.seconds, chosen.seeds)
        if chosen.only is None or peer.name in chosen.only
    ]
    show(
        f"Peers, one thread each, {chosen.seconds:g} s per search, median of {chosen.seeds} seeds",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
        notes=[f"Load of the machine before and after: {load:.1f}, {os.getloadavg()[0]:.1f}."],
    )
    return 0


def _row(peer: Peer, folder: Path) -> dict[str, Value]:
    """Return a peer's answer, or in the last column the reason why it gave none."""
    row: dict[str, Value] = dict.fromkeys((column.key for column in COLUMNS), None)
    try:
        return row | {"program": peer.name} | asdict(ask(peer, folder, time_limit_s=TIME_LIMIT_S))
    except NotAvailable as reason:
        return row | {"program": peer.name, "proved": str(reason)}


if __name__ == "__main__":
    sys.exit(main())
