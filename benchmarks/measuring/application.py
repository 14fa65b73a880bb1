"""A whole application on this machine: tasks in numpy beside networks in ONNX Runtime, with its
latency predicted and measured.

A camera's frame is resized, a detector reads it, and its boxes are suppressed, while a classifier
reads the frame, too. Networks are profiled, tasks timed alone on each core. Then random mappings
are run, and the latencies from the frame to the boxes and to the class compared.

Usage: ``python -m benchmarks.measuring.application [--json]``, two minutes on two
cores that nobody else uses.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.harness.report import Column, Value, parser, show
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.problem.build import BuiltProblem, build_problem, cost_origins
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch
from paretosoc.dse.tools.host.machine.host_units import HostUnit, describe_host, free_cores
from paretosoc.dse.tools.host.machine.sub_models import Program
from paretosoc.dse.tools.host.measure.profiling import profile_host
from paretosoc.dse.tools.host.measure.running import DesignRuns, Ran, host_machine, predict
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import TaskTime, Workload, WorkloadNetwork
from paretosoc.fitness.profiles.profile_file import load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem import DesignPoint

NETWORKS = ("resnet18", "squeezenet")
TASKS = ("resize", "suppress")
PROGRAMS = {
    name: Program(Path(__file__).parents[2] / "examples" / "tasks.py", name) for name in TASKS
}
MAPPINGS, FRAMES, PASSES = 8, 12, 2
COLUMNS = (
    Column("mapping", "on the second core"),
    Column("chain", "from the frame to"),
    Column("predicted", "predicted, ms", ".2f"),
    Column("measured", "measured, ms", ".2f"),
    Column("error", "off by", ".1%"),
    Column("lost", "cores taken", ".1%"),
)


def compare_here() -> list[dict[str, Value]]:
    """Return a row for each mapping and each end of the application.

    Raises:
        DseError: if there are not two cores, or ONNX Runtime is not installed.
    """
    cores = free_cores()
    units = (HostUnit((cores[0],)), HostUnit((cores[-1],)))
    options = Options(groups=2)
    made = profile_host(NETWORKS, units, describe_host(), options, frames=FRAMES, seed=0)
    with temporary_folder() as folder:
        for name, data in made.files.items():
            (folder / name).write_bytes(data)
        chip = load_platform(folder / "platform.json")
        profile = load_profile(folder / "profile.json", chip)
    names = [unit.name for unit in units]
    drafts = [[TaskTime(unit, Fraction(1)) for unit in names] for _ in TASKS]
    alone = build_problem(_tasks(drafts), chip, options)
    everywhere = [DesignPoint(np.full(len(TASKS), u), _clocks(alone)) for u in range(len(units))]
    taken_ns = [ran.group_ns for ran in _ran(alone, everywhere)]
    measured = [
        [TaskTime(unit, Fraction(round(taken_ns[u][k]), 10**6)) for u, unit in enumerate(names)]
        for k in range(len(TASKS))
    ]
    resize, suppress = _tasks(measured).networks
    application = Workload(
        (
            resize,
            WorkloadNetwork("detect", NETWORKS[0], waits_for=("resize",)),
            replace(suppress, waits_for=("detect",)),
            WorkloadNetwork("classify", NETWORKS[1], waits_for=("resize",)),
        )
    )
    built = build_problem(application, chip, options, profile=profile)
    problem = built.problem
    drawn = DesignSpace(problem).random(np.random.default_rng(0), 50 * MAPPINGS)
    designs = [problem.design_of(row) for row in drawn[unique_rows(drawn)][:MAPPINGS]]
    rows: list[dict[str, Value]] = []
    for design, ran in zip(designs, _ran(built, designs), strict=True):
        predicted = predict(problem, design)
        second = [
            f"{n.name} {g - n.groups.start}" if len(n.groups) > 1 else n.name
            for n in problem.networks
            for g in n.groups
            if design.units[g] == 1
        ]
        for end in (2, 3):
            stated, found = predicted.latency_ms[end], ran.figures.latency_ms[end]
            rows.append(
                {
                    "mapping": ", ".join(second),
                    "chain": problem.networks[end].name,
                    "predicted": stated,
                    "measured": found,
                    "error": stated / found - 1,
                    "lost": ran.lost_share,
                }
            )
    return rows


def _tasks(times: list[list[TaskTime]]) -> Workload:
    return Workload(
        tuple(
            WorkloadNetwork(name, "", times=tuple(each))
            for name, each in zip(TASKS, times, strict=True)
        )
    )


def _clocks(built: BuiltProblem) -> np.ndarray:
    return np.zeros(len(built.problem.domains), dtype=np.int64)


def _ran(built: BuiltProblem, designs: list[DesignPoint]) -> list[Ran]:
    """Run designs by turns, so that drift affects all alike."""
    runs = [DesignRuns(built.problem, design, dispatch=Dispatch.PLANNED) for design in designs]
    with host_machine(built.problem, cost_origins(built), programs=PROGRAMS, seed=0) as machine:
        for _ in range(PASSES):
            for each in runs:
                each.run(machine, FRAMES)
    return [each.result() for each in runs]


def main() -> None:
    options = parser(
        "benchmarks.measuring.application", (__doc__ or "").split("\n")[0]
    ).parse_args()
    rows = compare_here()
    errors = [abs(float(row["error"])) for row in rows]  # type: ignore[arg-type]
    show(
        "An application on this machine",
        COLUMNS,
        rows,
        as_json=options.json,
        notes=[f"Off by {median(errors):.1%} in the median, by {max(errors):.1%} at most."],
    )


if __name__ == "__main__":
    main()
