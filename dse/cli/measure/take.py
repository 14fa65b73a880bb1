"""``dse measure take``: what a board measured, and what it decides."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Annotated

import paretosoc as dse
from paretosoc.dse.cli.results.confidence import Goal
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument


def take(
    folder: opt.Folder,
    results: Annotated[Path, Argument(help="What measure.py wrote.", metavar="RESULTS.json")],
    goal: Goal = None,
    draws: opt.Draws = 1000,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Read what a board measured, and say which member to take and whether to stop.

    The measurements are added to costs.json. Members and proofs stay: they are of the costs before.
    """
    from rich.console import Console

    from paretosoc.common.tables import plain_table
    from paretosoc.dse.api.measuring import decisions
    from paretosoc.dse.cli.measure.next_measurements import decision_lines, decisions_document
    from paretosoc.dse.cli.shared.terminal import print_wrapped
    from paretosoc.dse.tools.measuring.taking import compared_with
    from paretosoc.results.deploy.deployment import require_origins

    before = dse.load(folder)
    front = before.update(results)
    taken = decisions(front, goal=goal, draws=draws, seed=seed)
    new = require_origins(front.costs).measured[len(require_origins(before.costs).measured) :]
    rows = compared_with(before.stated_errors, new)
    front.save(folder, overwrite=True)
    is_sure = all(entry.goals[goal].is_sure for goal, entry in taken.items())
    if as_json:
        document = {
            "measured": [
                {"time_ms": row.measurement.time_ps / 1e9, "stated_ms": row.stated_ps / 1e9}
                for row in rows
            ],
            "decisions": decisions_document(taken),
            "stop": is_sure,
        }
        print(json.dumps(document, indent=2))
        return
    table = plain_table("measured", ">ms", ">stated ms", ">off", ">W above idle", ">stated W")
    for row in rows:
        of = row.measurement
        power = None if of.power_mw is None or of.idle_mw is None else of.power_mw - of.idle_mw
        table.add_row(
            f"{of.network} {of.first_group} to {of.last_group} on {of.unit}",
            f"{of.time_ps / 1e9:.4g}",
            f"{row.stated_ps / 1e9:.4g}",
            f"{100 * row.slower:+.1f} %",
            "-" if power is None else f"{power / 1000:.3g}",
            f"{row.stated_mw / 1000:.3g}",
        )
        if of.beside is not None:
            slower = of.beside.time_ps / of.time_ps
            table.add_row(
                f"    beside {of.beside.network} on {of.beside.unit}, times as long",
                f"{slower:.3f}",
                f"{row.stated_slowdown:.3f}",
                f"{100 * (slower / row.stated_slowdown - 1):+.1f} %",
                *("-", "-"),
            )
    Console(highlight=False).print(table)
    print_wrapped(decision_lines(front, taken))
    path = folder.resolve()
    plans = (path.with_name(f"{path.name}-plan-{count}") for count in itertools.count(2))
    free = next(plan.name for plan in plans if not plan.exists())
    more = f"'dse measure next {folder} -o {folder.with_name(free)}' plans more"
    print_wrapped(
        [
            "Sure enough: stop." if is_sure else f"Not sure enough: {more}.",
            "Objectives in tables, and proofs, are of the costs before the measurements; these "
            "figures and 'dse analyze confidence' know them.",
        ]
    )
