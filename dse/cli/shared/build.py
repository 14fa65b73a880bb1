"""From the texts of the command line to a problem."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from dse.api.problem import Problem
from dse.compile.load import announce_compilation
from dse.workload.options import Options
from dse.workload.parse_options import with_dimensions
from dse.workload.scenarios import Scenario
from dse.workload.workload_file import workload_from
from fitness.profiles.profile_file import load_profile
from platforms.platform_file import load_platform


def problem_from_texts(
    networks: Sequence[str],
    platform: str,
    options: Options,
    *,
    profile: Path | None = None,
    dimensions: Sequence[str] | None = None,
    scenario: Scenario | None = None,
    balance: bool = False,
) -> Problem:
    """Read the inputs and build the problem; warnings of the import go to stderr.

    Raises:
        DseError: on input that cannot be used.
    """
    announce_compilation()
    chip = load_platform(platform)
    problem = Problem.from_options(
        with_dimensions(workload_from(networks), dimensions),
        chip,
        options,
        profile=None if profile is None else load_profile(profile, chip),
        scenario=scenario,
        match_repeats=balance,
    )
    for warning in problem.warnings:
        print(f"dse: {warning}", file=sys.stderr)
    return problem
