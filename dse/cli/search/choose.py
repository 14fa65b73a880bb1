"""``dse choose``: which board serves a workload."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import paretosoc as dse
from paretosoc.dse.api.choose import OPTIONS, PAGE
from paretosoc.dse.cli.campaign.campaign import campaign_line
from paretosoc.dse.cli.search.explore import Seed
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.option_groups import FromTable, Given
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import open_console, print_json, say, show
from paretosoc.dse.tools.choose.boards import Standing
from paretosoc.dse.tools.choose.choose import ALL, DRAWS, EVALUATIONS
from paretosoc.dse.tools.choose.table import choice_views
from paretosoc.dse.workload.fields import split
from paretosoc.dse.workload.options import FIELDS, Options
from paretosoc.dse.workload.read_options import parse_options


def choose(
    networks: opt.NetworkNames,
    output: Annotated[
        Path,
        Option("--output", "-o", help="Output folder. Explorations that it has are not repeated."),
    ],
    *,
    boards: Annotated[
        str,
        Option(
            "--boards", "-p", metavar="NAME,...", help="Platforms: names or JSON files, or all."
        ),
    ] = ALL,
    price: Annotated[
        Path | None,
        Option(metavar="FILE", help="Prices of boards (.yaml, .json): boards: {NAME: N}."),
    ] = None,
    precision: Annotated[
        list[str] | None,
        Option(
            metavar="[BOARD=]FORMAT",
            help="Number format of all boards, or of one. Repeatable. "
            "[default: one that all boards have]",
        ),
    ] = None,
    given: Annotated[Given, FromTable((*(n for n in OPTIONS if FIELDS[n].has_option), "limit"))],
    max_evaluations: Annotated[
        int,
        Option(
            min=1,
            max=opt.MAX_COUNT,
            help="Design points to evaluate for each board and combination of variants.",
        ),
    ] = EVALUATIONS,
    draws: opt.Draws = DRAWS,
    seed: Seed = 0,
    prove: Annotated[
        bool, Option("--prove", help="Prove fronts complete, as far as possible.")
    ] = False,
    jobs: opt.Processes = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int:
    """Compare boards and variants of networks: which keep all rates and limits, how sure that is.

    Explores each board once, or once for each combination of the variants that networks of a
    workload file have, all in one number format. Simulates the design points found with costs
    drawn from their errors, and joins the fronts of combinations. Writes a table, and a page with a
    picture. Exit status 1 if no board serves the workload.
    """
    options = {
        name: FIELDS[name].kind.given(value)
        for name, value in vars(parse_options(given)).items()
        if value != getattr(Options(), name)
    }
    try:
        with campaign_line(quiet=quiet or as_json, also=None) as progress:
            found = dse.choose(
                networks,
                split(boards),
                folder=output,
                prices=price,
                precision=precision or (),
                max_evaluations=max_evaluations,
                draws=draws,
                seed=seed,
                jobs=jobs or os.cpu_count() or 1,
                prove=prove,
                on_progress=progress,
                **options,
            )
    except KeyboardInterrupt:
        say(
            f"interrupted; explorations that have ended are kept in {output}, and the same "
            "command makes the others"
        )
        return 130
    if as_json:
        print_json(found.to_document())
    elif not quiet:
        show(*choice_views(found, open_console().width))
        print(f"\nWritten to {output}: {PAGE}; dse campaign report {output} shows the fronts")
    return 0 if found.boards[0].standing is Standing.SERVES else 1
