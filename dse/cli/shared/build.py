"""Build a problem from the texts of the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from paretosoc.common.compiling import announce_compilation
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.cli.shared.option_groups import Given
from paretosoc.dse.workload.options import parse_options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform


def problem_from_texts(networks: Sequence[str], platform: str, given: Given) -> Problem:
    """Read the inputs and build the problem.

    Its warnings go to stderr, except those about groups that units cannot run.

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
    for warning in problem.built.warnings:
        print(f"dse: warning: {warning}", file=sys.stderr)
    return problem
