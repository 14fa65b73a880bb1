"""From the texts of the command line to a problem that is built."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dse.baselines.repeat_matching import balanced
from dse.compile.load import tell_of_compiling
from dse.errors import WorkloadError
from dse.problem.build import BuiltProblem, build_problem
from dse.workload.options import Options
from dse.workload.parse_options import with_dimensions
from dse.workload.scenarios import Scenario, apply_scenario
from dse.workload.workload_file import workload_from
from fitness.profiles.profile_file import load_profile
from platforms.platform import Platform
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
) -> tuple[BuiltProblem, Platform]:
    """Reads the inputs and builds the problem; warnings of the import go to stderr.

    Raises:
        GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used.
    """
    tell_of_compiling()
    chip = load_platform(platform)
    measured = None if profile is None else load_profile(profile, chip)
    workload = with_dimensions(workload_from(networks), dimensions)
    if scenario is not None:
        workload = apply_scenario(workload, scenario)
    if balance and (options.free_running or workload.free_running):
        raise WorkloadError(
            "--balance and free-running networks exclude each other: each runs as often as it can"
        )
    built = build_problem(workload, chip, options, profile=measured)
    if balance:
        built = replace(built, problem=balanced(built.problem))
    for warning in built.warnings:
        print(f"dse: {warning}", file=sys.stderr)
    return built, chip
