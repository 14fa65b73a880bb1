"""Fig. 5 to 7 of Tang et al. (SAMOS 2021): throughput against energy of three networks on a TX2.

Usage: python -m examples.tang.fronts [--json] [--output FOLDER] [--generations N]

For each network: times and powers on the GPU calibrated on five clock pairs of the paper's Table 2
(five_pairs.csv), the closed form, a population of 5,000 over 100 generations as in 5.1, and the
front of the TensorRT-style baseline over all 12 x 13 clock pairs. Everything twice: the time T
over which a frame draws idle power (Eq. 9-11) is the period, in which a frame leaves the pipeline,
or the sum of all loads, as Eq. 12 is printed. The paper has no figures for its fronts but what its
text says; that stands beside ours. FOLDER (runs/tang) gets a result folder per network and T, and
a picture per network with both.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from examples.arguments import output_folder
from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.evaluate_all import baseline_points
from paretosoc.dse.baselines.whole_networks import TensorRtStyle
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options, ThroughputModel
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.calibration.dvfs import calibrate_rows, subjects
from paretosoc.fitness.calibration.dvfs_profile import Subject, clock_profile_document
from paretosoc.fitness.calibration.dvfs_table import read_measurements
from paretosoc.fitness.cost_model.dvfs_forms import PowerForm, TimeForm
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.profiles.profile_file import Profile, read_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.results.plots.chart import Axis
from paretosoc.results.plots.fronts import draw_fronts
from paretosoc.results.plots.items import Marks
from paretosoc.results.plots.picture import Picture, Text
from paretosoc.results.plots.style import PICTURE_MAKERS
from paretosoc.results.problem.execution import IdleTime
from paretosoc.results.problem.objectives import idle_time_name
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.catalogue.catalogue import load_network

MEASUREMENTS = Path(__file__).parent / "five_pairs.csv"
PLATFORM = "jetson-tx2"
POPULATION, GENERATIONS = 5_000, 100
WIDTH = 132
"""Columns of the table, whatever the terminal's."""
PAPER = {
    "vgg19": "Fig. 5: same or better throughput at less energy than TensorRT",
    "bvlc_alexnet": "Fig. 6: the same below 100 images/s; more than 100 only without TensorRT, "
    "at more energy",
    "emotion_ferplus": "Fig. 7: always better throughput at less energy",
}


@dataclass(frozen=True)
class Result:
    """One network with one T; rates in images/s, energies in mJ/image."""

    network: str
    idle_time: str
    """The name of T."""
    paper: str
    members: int
    tensorrt_points: int
    tensorrt_beaten: int
    """Points of that front which some member dominates."""
    tensorrt_equalled: int
    """Points that are members."""
    most_fps: float
    mj_at_most_fps: float
    tensorrt_most_fps: float
    least_mj: float
    tensorrt_least_mj: float
    mj_at_tensorrt_most_fps: float
    """Least energy of a member that is no slower than TensorRT's fastest point."""
    tensorrt_mj_at_most_fps: float
    evaluations: int
    seconds: float


def calibrated(platform: Platform) -> Profile:
    """The profile that ``dse calibrate --form overlap-stall`` makes of the five clock pairs."""
    groups = subjects(read_measurements(MEASUREMENTS, platform))
    names = {}
    for name, _, _ in groups:
        graph = load_network(name).graph
        macs = sum(actor.layer.macs for actor in graph.actors if actor.layer is not None)
        names[name] = Subject(graph.name, macs)
    document = clock_profile_document(
        platform,
        [
            calibrate_rows(
                rows,
                platform,
                time_form=TimeForm.OVERLAP_STALL,
                power_form=PowerForm.VOLTAGE_CLOCK,
                resamples=0,
            )
            for rows in groups.values()
        ],
        names,
        precision=platform.default_precision,
        source="Tang et al., Table 2",
    )
    return read_profile(canonical_bytes(document), platform, MEASUREMENTS.name)


def explored(
    network: str, idle_time: IdleTime, *, generations: int = GENERATIONS
) -> tuple[Result, Front]:
    """The front of one network with one T, and what it says against TensorRT."""
    platform = load_platform(PLATFORM)
    options = Options(
        objectives=("throughput", "energy"),
        fixed=(("emc", "max"),),
        throughput_model=ThroughputModel.ANALYTIC,
        pipeline_time=idle_time,
    )
    workload = workload_from([network])
    problem = build_problem(workload, platform, options, profile=calibrated(platform)).problem
    space = DesignSpace(problem)
    began = time.monotonic()
    found = search(
        Nsga2Engine(space, seed=0, population=POPULATION),
        make_outcomes(problem),
        Budget(POPULATION * generations),
    )
    seconds = time.monotonic() - began
    points = baseline_points(space)
    front = seed_front(
        problem, found.rows, engine="nsga2", platform=platform.name, baselines=points
    )
    theirs = np.array(
        [p.member.objectives for p in points if p.name == TensorRtStyle.name], dtype=np.int64
    )
    ours = found.objectives
    return _result(network, problem, ours, theirs, found.evaluations, seconds), front


def _result(
    network: str,
    problem: Problem,
    ours: IntArray,
    theirs: IntArray,
    evaluations: int,
    seconds: float,
) -> Result:
    throughput, energy = problem.objectives
    beaten = [
        bool(((ours <= point).all(axis=1) & (ours < point).any(axis=1)).any()) for point in theirs
    ]
    fastest = theirs[theirs[:, 0].argmin()]
    as_fast = ours[ours[:, 0] <= fastest[0]]
    return Result(
        network=network,
        idle_time=idle_time_name(problem),
        paper=PAPER[network],
        members=len(non_dominated(ours)),
        tensorrt_points=len(theirs),
        tensorrt_beaten=sum(beaten),
        tensorrt_equalled=sum(bool((ours == point).all(axis=1).any()) for point in theirs),
        most_fps=throughput.shown(int(ours[:, 0].min())),
        mj_at_most_fps=energy.shown(int(ours[ours[:, 0].argmin(), 1])),
        tensorrt_most_fps=throughput.shown(int(fastest[0])),
        least_mj=energy.shown(int(ours[:, 1].min())),
        tensorrt_least_mj=energy.shown(int(theirs[:, 1].min())),
        mj_at_tensorrt_most_fps=energy.shown(int(as_fast[:, 1].min())),
        tensorrt_mj_at_most_fps=energy.shown(int(fastest[1])),
        evaluations=evaluations,
        seconds=round(seconds, 1),
    )


def picture(fronts: Sequence[Front]) -> Picture:
    """Fronts of one network, which differ in T, and TensorRT's, which has one unit and so one T."""
    ((chart,),) = draw_fronts([("ours", front) for front in fronts]).rows
    throughput, energy = fronts[0].problem.objectives
    theirs = [
        point.member.objectives for point in fronts[0].baselines if point.name == TensorRtStyle.name
    ]
    points = [(throughput.shown(rate), energy.shown(use)) for rate, use in theirs]
    crosses = Marks(points, name="TensorRT-style, either T")
    every = [p for item in chart.items if not isinstance(item, Text) for p in item.points]
    xs, ys = zip(*points, *every, strict=True)
    x, y = Axis.over(chart.x.title, xs, 0.06), Axis.over(chart.y.title, ys, 0.06)
    return replace(chart, x=x, y=y, items=(*chart.items, crosses)).picture()


def grid(results: Sequence[Result]) -> Table:
    """A row per network and T; in brackets TensorRT's."""
    table = Table(
        title="Fig. 5 to 7 of Tang et al., by the time T of idle power; in brackets TensorRT-style",
        title_justify="left",
        box=SIMPLE,
    )
    for header in ("network", "T"):
        table.add_column(header, no_wrap=True)
    points = "TensorRT's points\nbeaten, equalled"
    for header in ("members", points, "most images/s", "mJ/image\nthere"):
        table.add_column(header, justify="right", no_wrap=True)
    for header in ("mJ/image at TensorRT's\nmost images/s", "least\nmJ/image"):
        table.add_column(header, justify="right", no_wrap=True)
    for r in results:
        table.add_row(
            r.network,
            r.idle_time.removeprefix("T = "),
            str(r.members),
            f"{r.tensorrt_beaten}, {r.tensorrt_equalled} of {r.tensorrt_points}",
            f"{r.most_fps:.4g} ({r.tensorrt_most_fps:.4g})",
            f"{r.mj_at_most_fps:.4g}",
            f"{r.mj_at_tensorrt_most_fps:.4g} ({r.tensorrt_mj_at_most_fps:.4g})",
            f"{r.least_mj:.4g} ({r.tensorrt_least_mj:.4g})",
        )
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Explores all three with both T, prints, and writes folders and pictures."""
    parser = argparse.ArgumentParser(prog="python -m examples.tang.fronts")
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    parser.add_argument(
        "--output", type=output_folder, default="runs/tang", help="folder for results and pictures"
    )
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    options = parser.parse_args(arguments)
    if options.generations < 1:
        parser.error(f"--generations must be at least 1, got {options.generations}")
    results: list[Result] = []
    fronts: dict[str, list[Front]] = {network: [] for network in PAPER}
    for network, idle_time in product(PAPER, IdleTime):
        result, front = explored(network, idle_time, generations=options.generations)
        results.append(result)
        fronts[network].append(front)
        folder = options.output / f"{network}-{idle_time.value}"
        write_results(folder, front, overwrite=True)
    for network, both in fronts.items():
        drawn = picture(both)
        for suffix in (".svg", ".png"):
            path = options.output / f"{network}{suffix}"
            path.write_bytes(PICTURE_MAKERS[suffix](drawn))
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
        return
    console = Console(highlight=False, width=WIDTH)
    console.print(grid(results))
    for network, says in PAPER.items():
        print(f"{network}. {says}.")
    print("T = sum of loads is Eq. 12 as printed. TensorRT-style has one unit: both T are one.")
    print(f"{POPULATION * options.generations:,} design points each, in ", end="")
    print(", ".join(f"{r.seconds} s" for r in results))
    print(f"Written to {options.output}")


if __name__ == "__main__":
    main()
