"""Section 5.3 of HaX-CoNN: how soon after a change of workload the optimum is there, and proved.

Usage: python -m examples.hax.section5_3 [--json]

Table 6's workloads are submitted to the anytime scheduler one after the other; groups and costs are
prepared before. Wall-clock time on this host, the search in a thread. A stream's two networks are
taken as they run beside each other, from a common start. Once with about ten groups per network and
any number of switches, once with a group for every legal cut and one switch per network.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from examples.hax.prediction import GROUPS, json_wanted, scenario_workload
from examples.hax.published import Experiment, experiments
from examples.wide_console import wide_console
from paretosoc.dse.certificate.improve import Published
from paretosoc.dse.papers.anytime.scheduler import AnytimeScheduler
from paretosoc.dse.tools.analysis.compare_baselines import two_accelerators
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload, workload_of
from paretosoc.platforms.io.platform_file import load_platform


@dataclass(frozen=True)
class Run:
    """Milliseconds after the change; ``naive_ms`` and ``optimum_ms`` are makespans."""

    experiment: int
    title: str
    setting: str
    naive_ms: float
    optimum_ms: float
    until_optimum_ms: float
    until_searched_ms: float | None
    until_proof_ms: float
    status: str


SETTINGS: dict[str, dict[str, Any]] = {
    f"{GROUPS} groups": {"groups": GROUPS, "max_transitions": ()},
    "all cuts, 1 switch": {"groups": None, "max_transitions": ((None, 1),)},
}


def main() -> None:
    """Measures and prints."""
    as_json = json_wanted("Section 5.3 of HaX-CoNN: time to the optimum and its proof.")
    runs = [run for setting in SETTINGS for run in measured(setting)]
    if as_json:
        print(json.dumps([vars(run) for run in runs], indent=2))
        return
    grid = Table(title="After a change of workload", title_justify="left")
    for header in ("#", "workload", "groups"):
        grid.add_column(header)
    for header in (
        *("naive\nms", "optimum\nms", "optimum there\nafter ms"),
        *("search done\nafter ms", "proof\nafter ms"),
    ):
        grid.add_column(header, justify="right")
    grid.add_column("")
    for run in runs:
        grid.add_row(
            str(run.experiment),
            run.title,
            run.setting,
            f"{run.naive_ms:.2f}",
            f"{run.optimum_ms:.2f}",
            f"{run.until_optimum_ms:.1f}",
            "-" if run.until_searched_ms is None else f"{run.until_searched_ms:.1f}",
            f"{run.until_proof_ms:.0f}",
            run.status,
        )
    console = wide_console()
    console.print(grid)
    console.print(
        f"Longest until the optimum: {max(run.until_optimum_ms for run in runs):.0f} ms; "
        f"until the proof: {max(run.until_proof_ms for run in runs):.0f} ms"
    )


def measured(setting: str) -> list[Run]:
    """All experiments, by platform, one scheduler each."""
    runs = []
    for platform in dict.fromkeys(row.platform for row in experiments()):
        chip = load_platform(platform)
        limits = SETTINGS[setting]
        options = Options(
            objectives=("latency",),
            units=two_accelerators(chip),
            fixed=tuple((domain.name, "max") for domain in chip.domains),
            groups=limits["groups"],
            max_transitions=limits["max_transitions"],
        )
        chosen = [row for row in experiments() if row.platform == platform]
        published: list[Published] = []
        with AnytimeScheduler(chip, options=options, on_publish=published.append) as scheduler:
            for experiment in chosen:
                scheduler.prepare(_workload(experiment))
            # The first proof loads Z3, which a system that runs has done.
            scheduler.submit(workload_of(["squeezenet"]))
            scheduler.wait()
            for experiment in chosen:
                published.clear()
                scheduler.submit(_workload(experiment))
                ended = scheduler.wait()
                assert ended is not None
                assert ended.certificate is not None, "the naive schedules keep all constraints"
                runs.append(
                    Run(
                        experiment=experiment.number,
                        title=experiment.title,
                        setting=setting,
                        naive_ms=published[0].value / 1e9,
                        optimum_ms=published[-1].value / 1e9,
                        until_optimum_ms=1000 * published[-1].seconds,
                        until_searched_ms=(
                            None if ended.searched_s is None else 1000 * ended.searched_s
                        ),
                        until_proof_ms=1000 * ended.seconds,
                        status=ended.certificate.status.value,
                    )
                )
    return runs


def _workload(experiment: Experiment) -> Workload:
    if experiment.scenario == 3:
        return workload_of(experiment.networks)
    return scenario_workload(experiment.networks, experiment.scenario)[0]


if __name__ == "__main__":
    main()
