"""Retimed periodic schedules on a Jetson AGX Xavier, against self-timed execution.

Usage: python -m examples.mobile_i.own_chips [--json] [EVALUATIONS]

For each workload, frames per second in the long run, by the timeline, so that contention and
transitions count.

* self-timed: the fastest member of the front of ``--engine nsga2`` with 2 and with 3 frames in
  flight, and of ``--engine mobile-i`` with 2;
* periodic: the least period that ``--engine mobile-i`` and NSGA-II find where dependences are left
  to retiming, its order improved, simulated under contention and checked; the frames that it needs
  in flight, and the same mapping self-timed with as many;
* the bound: 1 / (least largest load), which nothing can pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import geometric_mean

from rich.box import SIMPLE
from rich.table import Table

from examples.mobile_i.period_problem import least_largest_load, period_problem
from examples.mobile_i.pipeline import PeriodicPipeline, periodic_pipeline
from examples.mobile_i.printing import parser, print_figures, print_table
from paretosoc.common.arrays import IntArray
from paretosoc.dse.engines.optimizers import optimizer_named
from paretosoc.dse.papers.mobile_i.check import broken_rule
from paretosoc.dse.papers.mobile_i.pipeline_engine import MobileIEngine
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.problem import DesignPoint, Problem

PLATFORM = "jetson-agx-xavier"
WORKLOADS = (
    ("vgg19", "resnet101"),
    ("googlenet", "resnet50"),
    ("inception_v1", "inception_v2"),
    ("alexnet", "vgg16"),
    ("resnet18", "resnet50"),
    ("squeezenet", "mobilenet_v2"),
    ("densenet121", "resnet50"),
    ("vgg19", "inception_v4"),
    ("googlenet", "resnet101"),
    ("alexnet", "vgg19", "squeezenet"),
    ("googlenet", "resnet18", "resnet50"),
    ("resnet18", "mobilenet_v2", "inception_v2"),
)
EVALUATIONS = 5_000


@dataclass(frozen=True)
class Row:
    """Frames per second of one workload."""

    networks: tuple[str, ...]
    explorer_2: float
    explorer_3: float
    mobile_i_2: float
    explorer_2_many: float
    """The mapping of ``explorer_2`` with as many frames in flight as ``periodic`` needs."""
    periodic_mobile_i: float
    frames_mobile_i: int
    periodic: float
    """Of Mobile-I's mapping or of that which NSGA-II found for the least period, if faster."""
    frames: int
    self_timed: float
    """The mapping and the frames in flight of ``periodic``."""
    bound: float


def long_run(problem: Problem, design: DesignPoint, frames: int) -> float:
    """Frames per second, self-timed."""
    pipeline = replace(problem, execution=Pipeline(frames))
    runs = make_long_run_evaluator(pipeline)(design.row[None])
    return 1e12 / int(runs.frame_period_ps[0])


def self_timed(
    problem: Problem, engine: str, frames: int, evaluations: int
) -> tuple[float, DesignPoint]:
    """The fastest of the front that an engine finds, and its design point."""
    pipeline = replace(problem, execution=Pipeline(frames))
    space = DesignSpace(pipeline)
    searching = optimizer_named(engine).start(space, 0)
    result = search(searching, make_outcomes(pipeline), Budget(evaluations))
    fastest = result.objectives[:, 0].argmin()
    return 1e12 / int(result.objectives[fastest, 0]), _design(space, result.rows[fastest])


def periodic(problem: Problem, engine: str, evaluations: int) -> PeriodicPipeline:
    """The shortest period found, checked."""
    least = period_problem(problem)
    space = DesignSpace(least)
    searching = (
        MobileIEngine(space, seed=0)
        if engine == "mobile-i"
        else optimizer_named(engine).start(space, 0)
    )
    result = search(searching, make_outcomes(least), Budget(evaluations))
    shortest = result.rows[result.objectives[:, 0].argmin()]
    pipeline = periodic_pipeline(problem, _design(space, shortest))
    broken = broken_rule(pipeline.schedule)
    assert broken is None, broken
    return pipeline


def _design(space: DesignSpace, row: IntArray) -> DesignPoint:
    return DesignPoint(row[: space.groups], row[space.groups :])


def compared(networks: tuple[str, ...], evaluations: int = EVALUATIONS) -> Row:
    """All figures of one workload."""
    chip = load_platform(PLATFORM)
    built = build_problem(
        workload_from(networks), chip, Options(objectives=("throughput", "energy"))
    )
    problem = built.problem
    explorer_2, design = self_timed(problem, "nsga2", 2, evaluations)
    explorer_3, _ = self_timed(problem, "nsga2", 3, evaluations)
    mobile_i_2, _ = self_timed(problem, "mobile-i", 2, evaluations)
    own = periodic(problem, "mobile-i", evaluations)
    other = periodic(problem, "nsga2", evaluations)
    best = max((own, other), key=lambda pipeline: pipeline.frames_per_s)
    return Row(
        networks=networks,
        explorer_2=explorer_2,
        explorer_3=explorer_3,
        mobile_i_2=mobile_i_2,
        explorer_2_many=long_run(problem, design, best.frames_in_flight),
        periodic_mobile_i=own.frames_per_s,
        frames_mobile_i=own.frames_in_flight,
        periodic=best.frames_per_s,
        frames=best.frames_in_flight,
        self_timed=long_run(problem, best.design, best.frames_in_flight),
        bound=1e12 / least_largest_load(problem),
    )


def grid(rows: list[Row]) -> Table:
    """The rows for people."""
    table = Table(
        title=f"Frames per second on {PLATFORM}; F: frames in flight",
        title_justify="left",
        box=SIMPLE,
        padding=0,
        collapse_padding=True,
    )
    table.add_column("workload")
    for header in (
        *("explorer\nF = 2", "\nF = 3", "\nF of per.", "mobile-i\nF = 2"),
        *("mobile-i\nperiodic", "\nF", "best\nperiodic", "\nF", "same\nself-timed", "bound"),
    ):
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        figures = (row.explorer_2, row.explorer_3, row.explorer_2_many, row.mobile_i_2)
        table.add_row(
            " ".join(row.networks),
            *(f"{figure:.1f}" for figure in (*figures, row.periodic_mobile_i)),
            str(row.frames_mobile_i),
            f"{row.periodic:.1f}",
            str(row.frames),
            f"{row.self_timed:.1f}",
            f"{row.bound:.1f}",
        )
    return table


def summary(rows: list[Row]) -> list[str]:
    """In words."""
    over = [row.periodic / row.explorer_2 for row in rows]
    many = [row.periodic / max(row.explorer_2_many, row.self_timed) for row in rows]
    frames = [row.frames for row in rows]
    worse = sum(row.mobile_i_2 < row.explorer_2 for row in rows)
    return [
        f"Periodic over the explorer's self-timed with 2 frames in flight: {_gains(over)}",
        f"Periodic over self-timed with as many frames in flight ({min(frames)} to {max(frames)}), "
        f"the better of both mappings: {_gains(many)}",
        "Mobile-I's own mapping, periodic, over the explorer's with 2 frames: "
        f"{_gains([row.periodic_mobile_i / row.explorer_2 for row in rows])}",
        f"Periodic against the bound: {_gains([row.periodic / row.bound for row in rows])}",
        f"Mobile-I's mappings with 2 frames in flight worse than the explorer's: {worse} of "
        f"{len(rows)}",
    ]


def _gains(ratios: Sequence[float]) -> str:
    mean, least, most = (
        f"{100 * ratio - 100:.1f}" for ratio in (geometric_mean(ratios), min(ratios), max(ratios))
    )
    return f"{mean} % in the mean, {least} to {most} %"


def main(arguments: Sequence[str] | None = None) -> None:
    """Searches and prints."""
    options = parser(
        "examples.mobile_i.own_chips",
        f"Retimed periodic schedules on {PLATFORM}, against self-timed execution.",
    )
    options.add_argument(
        "evaluations",
        nargs="?",
        type=int,
        default=EVALUATIONS,
        help=f"of each search [default: {EVALUATIONS}]",
    )
    chosen = options.parse_args(arguments)
    if chosen.evaluations < 1:
        options.error(f"evaluations: at least 1 is required, got {chosen.evaluations}")
    rows = [compared(networks, chosen.evaluations) for networks in WORKLOADS]
    if chosen.json:
        print_figures([asdict(row) for row in rows])
    else:
        print_table(grid(rows), summary(rows))


if __name__ == "__main__":
    main()
