"""Build a problem from the texts of the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from paretosoc.common.compiling import announce_compilation
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.cli.shared.option_groups import Given
from paretosoc.dse.workload.options import Options, parse_options
from paretosoc.dse.workload.variants import Combination, combinations
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform


def problem_from_texts(networks: Sequence[str], platform: str, given: Given) -> Problem:
    """Read the inputs and build the problem.

    Its warnings go to stderr, except those about groups that units cannot run.

    Raises:
        DseError: on input that cannot be used.
    """
    return _built(workload_from(networks), platform, given, parse_options(given))


def problems_from_texts(
    networks: Sequence[str], platform: str, given: Given
) -> list[tuple[Combination, Problem]]:
    """Build a problem for each combination of the variants that the options leave, as
    :func:`problem_from_texts`. It is one, without variants, if no network has variants."""
    options, workload = parse_options(given), workload_from(networks)
    return [
        (each, _built(workload, platform, given, replace(options, variants=(*each.names.items(),))))
        for each in combinations(workload, options)
    ]


def _built(workload: Workload, platform: str, given: Given, options: Options) -> Problem:
    announce_compilation()
    problem = Problem.from_options(
        workload,
        load_platform(platform),
        options,
        profile=given.get("profile"),
        losses=given.get("losses"),
    )
    for warning in problem.built.warnings:
        print(f"dse: warning: {warning}", file=sys.stderr)
    return problem
