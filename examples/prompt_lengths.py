"""Where the phases of a language model are fastest, by the length of the prompt.

Usage: python -m examples.prompt_lengths [NETWORK [PLATFORM]]   (default: qwen2-0.5b rk3588)

Each phase whole on one unit, alone, at the fastest clocks: the prompt (prefill), a token behind it
(decode), and the cache's way from the fastest unit for the one to the fastest for the other. Units
with the same times are one.
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from paretosoc.common.errors import DseError
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.problem.problem import Problem

LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def main() -> None:
    """Computes and prints."""
    parser = argparse.ArgumentParser(description="Phases of a language model by prompt length.")
    parser.add_argument("network", nargs="?", default="qwen2-0.5b")
    parser.add_argument("platform", nargs="?", default="rk3588")
    network, platform = vars(parser.parse_args()).values()
    try:
        chip = load_platform(platform)
        problems = {length: answer(network, chip, length) for length in LENGTHS}
    except DseError as error:
        parser.error(str(error))
    units = different_units(problems[LENGTHS[-1]])
    names = [problems[1].units[u].name for u in units]
    table = Table(title=f"{network} on {platform}, ms")
    for heading in ("prompt", *names, "token:", *names, "cache"):
        table.add_column(heading, justify="right")
    for length, problem in problems.items():
        prompt, token = ([alone_ms(problem, u, n) for u in units] for n in (0, 1))
        ends = tuple(units[times.index(min(times))] for times in (prompt, token))
        cache = float(problem.handovers_ps[(0, *ends)]) / PS_PER_MS
        table.add_row(str(length), *marked(prompt), "", *marked(token), f"{cache:.3f}")
    Console(width=100).print(table)


def answer(network: str, platform: Platform, length: int) -> Problem:
    """A prompt of so many tokens and one token behind it, each phase a single group."""
    prompt = WorkloadNetwork("prefill", network, dimensions=(("sequence", length),))
    token = WorkloadNetwork(
        "decode",
        network,
        waits_for=("prefill",),
        dimensions=(("sequence", 1), ("past", length)),
        grows=(("past", 1),),
        continues="prefill",
    )
    return build_problem(Workload((prompt, token)), platform, Options(groups=1)).problem


def alone_ms(problem: Problem, u: int, n: int) -> float:
    """The phase on a unit at its fastest clocks; infinite where that cannot run all of it."""
    groups = problem.networks[n].groups
    times = problem.units[u].time_ps.reshape(problem.group_count, -1)[groups.start : groups.stop]
    return float("inf") if (times < 0).any() else float(times[:, -1].sum()) / PS_PER_MS


def different_units(problem: Problem) -> list[int]:
    """The first of units with the same times."""
    times = [tuple(alone_ms(problem, u, n) for n in (0, 1)) for u in range(len(problem.units))]
    return [u for u, pair in enumerate(times) if times.index(pair) == u]


def marked(times: list[float]) -> list[str]:
    """In milliseconds, the shortest with a star."""
    return [f"{time:.1f}{'*' if time == min(times) else ''}" for time in times]


if __name__ == "__main__":
    main()
