"""Random small applications: tasks beside networks with variants and batches, and all design points
of every combination of variants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

import paretosoc as dse
from benchmarks.problems.enumerated.space import Enumerated, all_designs
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.variants import Combination, combinations
from paretosoc.dse.workload.workload_file import workload_of_document
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

MAX_DESIGNS = {"frame": 300, "rates": 300, "free": 40}
"""Of a combination. A free run takes a tenth of a second, and the proof simulates all of them."""
NETWORKS = ("squeezenet", "mobilenet_v2", "alexnet")
BOARDS = {
    "jetson-orin-nano-8gb": ("cpu", "gpu"),
    "jetson-agx-xavier": ("cpu", "gpu"),
    "rk3588": ("a76", "gpu", "npu0"),
}
"""With units that run all of these networks."""
RATES_HZ = (5, 10, 20)
OBJECTIVES = {
    "frame": ("latency", "energy"),
    "rates": ("relative-response", "power"),
    "free": ("throughput", "energy"),
}


@dataclass(frozen=True, eq=False)
class Application:
    """A problem for each combination of variants, with the objectives of its design points."""

    combined: tuple[Combination, ...]
    problems: tuple[dse.Problem, ...]
    found: tuple[Enumerated, ...]


def enumerated_application(seed: int) -> Application | None:
    """Draw an application on a board: in one frame, with rates, or free-running. Return None if a
    combination has too many design points."""
    rng = np.random.default_rng((41, seed))
    model = str(rng.choice(list(OBJECTIVES)))
    chip = load_platform(str(rng.choice(list(BOARDS))))
    units = rng.permutation(BOARDS[chip.name])[:2].tolist()
    workload = workload_of_document(_document(rng, model, units), ".")
    options: dict[str, Any] = {
        "groups": int(rng.integers(1, 3)),
        "units": units,
        "runtime": "none",
        "objectives": list(OBJECTIVES[model]),
        "fixed": {domain.name: str(rng.choice(["max", "min"])) for domain in chip.domains},
    }
    if rng.integers(2):
        del options["fixed"][str(rng.choice(list(options["fixed"])))]
    combined = tuple(combinations(workload, Options()))

    def problem_of(each: Combination) -> dse.Problem:
        return dse.Problem(workload, chip, variants=each.names or None, **options)

    drawn: list[dse.Problem] = []
    for each in combined:
        drawn.append(problem_of(each))
        space = drawn[-1].numeric
        counts = [int(row.sum()) for row in (*space.allowed, *(d.allowed for d in space.domains))]
        if prod(counts) > MAX_DESIGNS[model]:
            return None
    if rng.integers(3) == 0:
        first = replace(drawn[0].numeric, objectives=(Objective(ObjectiveKind.POWER),))
        power = make_outcomes(first)(all_designs(first)).objectives[:, 0]
        cap = (
            np.quantile(power[power < power.max()], rng.random())
            if len(set(power)) > 1
            else power[0]
        )
        options["power_cap_w"] = Fraction(1 + int(cap) // 1000, 1000)
        drawn = [problem_of(each) for each in combined]
    return Application(combined, tuple(drawn), tuple(map(_enumerated, drawn)))


def _enumerated(problem: dse.Problem) -> Enumerated:
    outcomes = make_outcomes(problem.numeric)(all_designs(problem.numeric))
    return Enumerated(problem.numeric, outcomes.objectives[outcomes.feasible], outcomes.objectives)


def _document(rng: np.random.Generator, model: str, units: list[str]) -> dict[str, Any]:
    """Return a workload of one or two tasks and one or two networks, in a random order of data."""
    kinds = ["task"] * int(rng.integers(1, 3)) + ["network"] * int(rng.integers(1, 3))
    document: dict[str, Any] = {"tasks": [], "networks": [], "free_running": model == "free"}
    earlier: list[str] = []
    for k in rng.permutation(len(kinds)):
        entry: dict[str, Any] = {"name": f"{kinds[k]}{k}"}
        if model == "rates":
            entry["rate_hz"] = int(rng.choice(RATES_HZ))
        if kinds[k] == "task":
            entry["times"] = [_time(rng, unit) for unit in units[: int(rng.integers(1, 3))]]
        else:
            entry["variants"] = _variants(rng, batches=model != "frame")
        if model != "free" and earlier and rng.integers(3):
            other = str(rng.choice(earlier))
            if model == "frame" and rng.integers(2):
                entry["reads_mb"] = {other: int(rng.integers(1, 20))}
            else:
                entry["waits_for"] = [other]
        earlier.append(entry["name"])
        document[f"{kinds[k]}s"].append(entry)
    return document


def _time(rng: np.random.Generator, unit: str) -> dict[str, Any]:
    time: dict[str, Any] = {"unit": unit, "ms": int(rng.integers(1, 30))}
    if rng.integers(2):
        time["traffic_mb"] = int(rng.integers(0, 4))
    if rng.integers(2):
        time["power_mw"] = int(rng.integers(100, 5000))
    return time


def _variants(rng: np.random.Generator, *, batches: bool) -> list[dict[str, Any]]:
    return [
        {
            "variant": f"v{k}",
            "network": str(rng.choice(NETWORKS)),
            **({"batch": int(2 ** rng.integers(0, 4))} if batches else {}),
            "accuracy_percent": int(rng.choice([50, 60, 70])),
        }
        for k in range(int(rng.integers(1, 4)))
    ]
