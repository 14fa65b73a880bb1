"""``dse analyze confidence``: how sure a front's choices are."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import paretosoc as dse
from paretosoc.dse.cli.results.show import Resolution
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import busy, open_console, print_json, show
from paretosoc.results.io.canonical_json import finite_or_none
from paretosoc.results.text.confidence import confidence_views, describe_costs

Goal = Annotated[
    str | None,
    Option(
        help="Goal: fastest, lowest-energy, knee, or the name of another objective's best. "
        "[default: all names of the front]"
    ),
]


def confidence(
    folder: opt.Folder,
    goal: Goal = None,
    draws: opt.Draws = 1000,
    seed: opt.Seed = 0,
    error: Annotated[
        float | None,
        Option(
            min=0,
            max=100,
            metavar="PERCENT",
            help="Standard error of every network's time on every unit, and of every group's "
            "share, in place of what is known of the costs.",
        ),
    ] = None,
    resolution: Resolution = None,
    as_json: opt.AsJson = False,
) -> None:
    """Say how sure a front's choices are if its costs are as far off as is known of them.

    All members are simulated with costs drawn from their errors: the interval of each choice's
    figures, how often it keeps the limits and is best for a goal, how much worse than the best it
    is in the mean, and what cannot be told apart.
    """
    front = dse.load(folder)
    with busy("simulating members with costs drawn from their errors"):
        found = front.confidence(
            goal,
            draws=draws,
            seed=seed,
            error=None if error is None else error / 100,
            resolution=None if resolution is None else resolution / 100,
        )
    if as_json:
        document = asdict(found)
        for choice in document["choices"]:
            for name, interval in choice["intervals"].items():
                choice["intervals"][name] = [finite_or_none(value) for value in interval]
        print_json(document)
        return
    if error is None:
        show(*describe_costs(front.numeric, front.costs))
    show(*confidence_views(front.numeric, found, open_console().width))
