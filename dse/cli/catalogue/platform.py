"""``dse platform``: the figures of a chip, and how well each is known."""

from __future__ import annotations

import json
from typing import Annotated

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import say
from paretosoc.dse.errors import WorkloadError


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
    from paretosoc.dse.cli.shared.terminal import print_wrapped
    from paretosoc.dse.problem.platform_warnings import platform_warnings
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
        print(json.dumps(platform_data(chip), indent=2))
        return

    print_wrapped(platform_lines(chip))
