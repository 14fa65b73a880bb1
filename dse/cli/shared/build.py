"""From the texts of the command line to a problem."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from paretosoc.dse.api.problem import Problem
from paretosoc.dse.cli.shared.option_groups import Given
from paretosoc.dse.compile.load import announce_compilation
from paretosoc.dse.workload.options import parse_options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform


def problem_from_texts(
    networks: Sequence[str], platform: str, given: Given, *, tell: bool = True
) -> Problem:
    """Read the inputs and build the problem. With ``tell`` its warnings go to stderr.

    Raises:
        DseError: on input that cannot be used.
    """
    options = parse_options(given)
    announce_compilation()
    chip = load_platform(platform)
    problem = Problem.from_options(
        workload_from(networks),
        chip,
        options,
        profile=given.get("profile"),
        losses=given.get("losses"),
    )
    if tell:
        tell_warnings(problem.warnings)
    return problem


def tell_warnings(warnings: Iterable[str]) -> None:
    """Print warnings on stderr."""
    for warning in warnings:
        print(f"dse: warning: {warning}", file=sys.stderr)
