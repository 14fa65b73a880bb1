"""One experiment of the paper predicted: a workload, all methods, and the optimum."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paretosoc.dse.baselines.group_by_group import without_contention
from paretosoc.dse.baselines.repeat_matching import balanced
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.tools.analysis.compare_baselines import Comparison, compare, two_accelerators
from paretosoc.dse.workload.options import Options, Scenario
from paretosoc.dse.workload.with_options import apply_scenario
from paretosoc.dse.workload.workload import Workload, workload_of
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.runtimes import Runtime

GROUPS = 10
"""Per network, as many as GoogLeNet has in the paper's Table 2."""


@dataclass(frozen=True)
class Prediction:
    """Milliseconds by method: the makespan, or the period of a stream. ``status`` of the optimum:
    certified, searched, gap, or found."""

    ms: dict[str, float]
    status: str
    best_baseline: str | None
    comparison: Comparison

    @property
    def gain(self) -> float:
        """Of the optimum over the best baseline, a ratio less one."""
        return self.comparison.optimum.gain


def built_workload(
    workload: Workload,
    platform: str,
    *,
    objective: str = "latency",
    balance: bool = False,
    groups: int | None = GROUPS,
    runtime: Runtime | None = None,
) -> BuiltProblem:
    """A workload on the GPU and one other accelerator, at the fastest clocks, as in the paper, by
    default with its rule of one group at a time."""
    chip = load_platform(platform)
    options = Options(
        objectives=(objective, "energy"),
        units=two_accelerators(chip),
        groups=groups,
        runtime=runtime,
        fixed=tuple((domain.name, "max") for domain in chip.domains),
    )
    built = build_problem(workload, chip, options)
    return replace(built, problem=balanced(built.problem)) if balance else built


def scenario_workload(networks: Sequence[str], scenario: int) -> tuple[Workload, str]:
    """The workload of a scenario of the paper, and its objective: 2 on the same input, 3 a stream,
    4 the first two in a row beside the third."""
    workload = workload_of(networks)
    if scenario == 3:
        return apply_scenario(workload, Scenario.STREAM), "throughput"
    if scenario == 4:
        first, second, *others = workload.networks
        second = replace(second, waits_for=(first.name,))
        return replace(workload, networks=(first, second, *others)), "latency"
    return workload, "latency"


def predict(built: BuiltProblem, platform: str, *, contention: bool = True) -> Prediction:
    """All methods on a problem; without contention no unit slows another."""
    if not contention:
        built = replace(built, problem=without_contention(built.problem))
    comparison = compare(built, platform)
    rows = [*comparison.methods, comparison.optimum]
    claim = comparison.claim
    return Prediction(
        ms={row.name: row.member.objectives[0] / 1e9 for row in rows},
        status="found" if claim is None else claim.status.value,
        best_baseline=comparison.best,
        comparison=comparison,
    )


def json_wanted(description: str) -> bool:
    """Reads the command line of a script that has no option but ``--json``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    return bool(parser.parse_args().json)
