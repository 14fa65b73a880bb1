"""Build a problem from the texts of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from paretosoc.common.compiling import announce_compilation
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.cli.shared.option_groups import Given
from paretosoc.dse.cli.shared.terminal import say
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.read_options import parse_options
from paretosoc.dse.workload.variants import Combination, combinations
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform, load_platforms
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.power_mode import board_and_mode


def problem_from_texts(networks: Sequence[str], platform: str, given: Given) -> Problem:
    """Read the inputs and build the problem.

    Its warnings go to stderr, except those about groups that units cannot run.

    Raises:
        DseError: on input that cannot be used.
    """
    options = parse_options(given)
    problem = _built(workload_from(networks), load_platform(platform), given, options)
    _warn([problem])
    return problem


def problems_from_texts(
    networks: Sequence[str], platform: str, given: Given
) -> list[tuple[Combination, Problem]]:
    """Build a problem for each combination of the variants that the options leave and of power
    modes, as :func:`problem_from_texts`. It is one, without variants, if no network has variants
    and the platform is in one mode."""
    options, workload = parse_options(given), workload_from(networks)
    chips = load_platforms(platform)
    modes = [board_and_mode(chip.name)[1] if len(chips) > 1 else "" for chip in chips]
    found = []
    for chip, mode in zip(chips, modes, strict=True):
        for each in combinations(workload, options):
            own = replace(options, variants=(*each.names.items(),))
            found.append((replace(each, mode=mode), _built(workload, chip, given, own)))
    _warn(problem for _, problem in found)
    return found


def _built(workload: Workload, platform: Platform, given: Given, options: Options) -> Problem:
    announce_compilation()
    return Problem.from_options(
        workload, platform, options, profile=given.get("profile"), losses=given.get("losses")
    )


def _warn(problems: Iterable[Problem]) -> None:
    """Print the warnings of problems, each once."""
    for warning in dict.fromkeys(text for each in problems for text in each.built.warnings):
        say(f"warning: {warning}")
