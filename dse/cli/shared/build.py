"""From the texts of the command line to a problem."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from paretosoc.dse.api.problem import Problem
from paretosoc.dse.cli.shared.options import InputOptions, ScenarioOptions
from paretosoc.dse.compile.load import announce_compilation
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.parse_options import with_batches, with_dimensions
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.profiles.loss_table import load_losses
from paretosoc.fitness.profiles.profile_file import load_profile
from paretosoc.platforms.io.platform_file import load_platform


def problem_from_texts(
    networks: Sequence[str],
    platform: str,
    options: Options,
    inputs: InputOptions,
    together: ScenarioOptions | None = None,
) -> Problem:
    """Read the inputs and build the problem. Warnings of the import go to stderr.

    Raises:
        DseError: on input that cannot be used.
    """
    announce_compilation()
    together = together or ScenarioOptions()
    chip = load_platform(platform)
    problem = Problem.from_options(
        with_batches(with_dimensions(workload_from(networks), inputs.dim), inputs.batch),
        chip,
        options,
        losses=None if inputs.losses is None else load_losses(inputs.losses),
        profile=None if inputs.profile is None else load_profile(inputs.profile, chip),
        scenario=together.scenario,
        match_repeats=together.balance,
    )
    for warning in problem.warnings:
        print(f"dse: warning: {warning}", file=sys.stderr)
    return problem
