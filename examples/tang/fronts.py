"""Fig. 5 to 7 of Tang et al. (SAMOS 2021): throughput against energy of three networks on a TX2.

Usage: python -m examples.tang.fronts [--json] [--output FOLDER] [--generations N]

For each network: times and powers on the GPU calibrated on five clock pairs of the paper's Table 2
(five_pairs.csv), the closed form, a population of 5,000 over 100 generations as in 5.1, and the
front of the TensorRT-style baseline over all 12 x 13 clock pairs. The paper has no figures for its
fronts but what its text says; that stands beside ours. With --output a result folder per network.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from dse.baselines.evaluate_all import baseline_points
from dse.baselines.tensorrt_style import TensorRtStyle
from dse.certificate.seed_front import front_of_rows
from dse.problem.build import build_problem
from dse.search.driver import Budget, search
from dse.search.optimizers.nsga2 import Nsga2Engine
from dse.space.design_space import DesignSpace
from dse.workload.options import Options
from dse.workload.workload_file import workload_from
from fitness.calibration.dvfs import calibrate_rows, subjects
from fitness.calibration.dvfs_profile import Subject, clock_profile_document
from fitness.calibration.dvfs_table import read_measurements
from fitness.objectives import make_outcomes
from fitness.profiles.profile_file import Profile, read_profile
from platforms.platform import Platform
from platforms.platform_file import load_platform
from results.front.dominance import non_dominated
from results.front.front import Front
from results.io.canonical_json import canonical_bytes
from results.problem.objectives import objective_value
from results.problem.pipeline_model import ThroughputModel
from results.problem.problem import IntArray, Problem
from sdf.catalogue.catalogue import load_network

MEASUREMENTS = Path(__file__).parent / "five_pairs.csv"
PLATFORM = "jetson-tx2"
POPULATION, GENERATIONS = 5_000, 100
PAPER = {
    "vgg19": "Fig. 5: same or better throughput at less energy than TensorRT",
    "bvlc_alexnet": "Fig. 6: the same below 100 images/s; more than 100 only without TensorRT, "
    "at more energy",
    "emotion_ferplus": "Fig. 7: always better throughput at less energy",
}


@dataclass(frozen=True)
class Result:
    """One network; rates in images/s, energies in mJ/image."""

    network: str
    paper: str
    members: int
    tensorrt_points: int
    tensorrt_beaten: int
    """Points of that front which some member dominates."""
    most_fps: float
    tensorrt_most_fps: float
    least_mj: float
    tensorrt_least_mj: float
    mj_at_tensorrt_most_fps: float
    """Least energy of a member that is no slower than TensorRT's fastest point."""
    tensorrt_mj_at_most_fps: float
    evaluations: int
    seconds: float


def calibrated(platform: Platform) -> Profile:
    """The profile that ``dse calibrate`` makes of the five clock pairs."""
    groups = subjects(read_measurements(MEASUREMENTS, platform))
    names = {}
    for name, _, _ in groups:
        graph = load_network(name).graph
        macs = sum(actor.layer.macs for actor in graph.actors if actor.layer is not None)
        names[name] = Subject(graph.name, macs)
    document = clock_profile_document(
        platform,
        [calibrate_rows(rows, platform, resamples=0) for rows in groups.values()],
        names,
        precision=platform.default_precision,
        source="Tang et al., Table 2",
    )
    return read_profile(canonical_bytes(document), platform, MEASUREMENTS.name)


def explored(network: str, *, generations: int = GENERATIONS) -> tuple[Result, Front]:
    """The front of one network, and what it says against TensorRT."""
    platform = load_platform(PLATFORM)
    options = Options(
        objectives=("throughput", "energy"),
        fixed=(("emc", "max"),),
        throughput_model=ThroughputModel.ANALYTIC,
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
    front = front_of_rows(
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
        paper=PAPER[network],
        members=len(non_dominated(ours)),
        tensorrt_points=len(theirs),
        tensorrt_beaten=sum(beaten),
        most_fps=objective_value(throughput, int(ours[:, 0].min())),
        tensorrt_most_fps=objective_value(throughput, int(fastest[0])),
        least_mj=objective_value(energy, int(ours[:, 1].min())),
        tensorrt_least_mj=objective_value(energy, int(theirs[:, 1].min())),
        mj_at_tensorrt_most_fps=objective_value(energy, int(as_fast[:, 1].min())),
        tensorrt_mj_at_most_fps=objective_value(energy, int(fastest[1])),
        evaluations=evaluations,
        seconds=round(seconds, 1),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Explores all three, prints, and writes the folders if asked to."""
    parser = argparse.ArgumentParser(prog="python -m examples.tang.fronts")
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    parser.add_argument("--output", type=Path, help="folder for a result folder per network")
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    options = parser.parse_args(arguments)
    if options.generations < 1:
        parser.error(f"--generations must be at least 1, got {options.generations}")
    results = []
    for network in PAPER:
        result, front = explored(network, generations=options.generations)
        results.append(result)
        if options.output is not None:
            from results.export.result_folder import write_results

            options.output.mkdir(parents=True, exist_ok=True)
            write_results(options.output / network, front, overwrite=True)
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
        return
    for result in results:
        print(f"{result.network}. {result.paper}.")
        print(
            f"  {result.members} members; {result.tensorrt_beaten} of {result.tensorrt_points} "
            f"TensorRT-style points beaten\n"
            f"  most images/s: {result.most_fps:.4g}, TensorRT {result.tensorrt_most_fps:.4g}\n"
            f"  least mJ/image: {result.least_mj:.4g}, TensorRT {result.tensorrt_least_mj:.4g}\n"
            f"  mJ/image at TensorRT's most images/s: {result.mj_at_tensorrt_most_fps:.4g}, "
            f"TensorRT {result.tensorrt_mj_at_most_fps:.4g}\n"
            f"  {result.evaluations:,} design points in {result.seconds} s"
        )


if __name__ == "__main__":
    main()
