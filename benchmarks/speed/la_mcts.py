"""The time of MapFormer's tree search for ten networks, and the tree's share of it.

Run as ``python -m benchmarks.speed.la_mcts``. MapFormer's 5.4 has 23 s on its board, its estimator
included. Seconds of the processor are given beside those of the clock, which others may share.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from paretosoc.common.arrays import IntArray
from paretosoc.dse.papers.estimator.predictor import (
    Prediction,
    Predictor,
    PredictorName,
    make_predictor,
)
from paretosoc.dse.papers.managers.mapformer.la_mcts import LaMctsEngine
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem import Problem

NETWORKS = [
    "vgg16",
    "resnet50",
    "mobilenet_v2",
    "squeezenet",
    "googlenet",
    "densenet121",
    "inception_v4",
    "alexnet",
    "mobilenet_v1",
    "inception_v2",
]
GROUPS = 20
MEASURED = (
    (False, PredictorName.TIMELINE),
    (True, PredictorName.TIMELINE),
    (True, PredictorName.LEARNED),
)
"""Whether the networks run freely, and the predictor. The estimator knows no frames in common."""


class Timed:
    """A predictor, and how long it has taken in all."""

    def __init__(self, inner: Predictor) -> None:
        self._inner = inner
        self.name = inner.name
        self.processor_seconds = 0.0

    def predict(self, problem: Problem, rows: IntArray) -> Prediction:
        """Return the inner predictor's result, and add up its time."""
        began = time.process_time()
        predicted = self._inner.predict(problem, rows)
        self.processor_seconds += time.process_time() - began
        return predicted


def ten_networks(*, free_running: bool) -> Problem:
    """Return the ten networks on the Xavier, for throughput and power."""
    options = Options(objectives=("throughput", "power"), groups=GROUPS, free_running=free_running)
    return build_problem(
        workload_from(NETWORKS), load_platform("jetson-agx-xavier"), options
    ).problem


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each kind of workload and predictor."""
    argparse.ArgumentParser(
        prog="python -m benchmarks.speed.la_mcts", description="Seconds of the tree search."
    ).parse_args(arguments)
    print(
        "ten networks      predictor  groups  iterations  predictions  clock s  CPU s  "
        "of it the tree"
    )
    for free_running, name in MEASURED:
        problem = ten_networks(free_running=free_running)
        space = DesignSpace(problem)
        predictor = Timed(make_predictor(name))
        # Both are loaded and compiled before the clock runs.
        _answered(LaMctsEngine(space, predictor, seed=1, iterations=2))
        predictor.processor_seconds = 0.0
        engine = LaMctsEngine(space, predictor, seed=0)
        clock, processor = time.monotonic(), time.process_time()
        iterations = len(_answered(engine))
        clock, processor = time.monotonic() - clock, time.process_time() - processor
        print(
            f"{'free-running' if free_running else 'frames in common':16}  {name.value:9}  "
            f"{space.groups:6d}  {iterations:10d}  {engine.predictions:11,d}  {clock:7.1f}  "
            f"{processor:5.1f}  {processor - predictor.processor_seconds:14.1f}"
        )


def _answered(engine: LaMctsEngine) -> list[IntArray]:
    rows = []
    while len(asked := engine.ask()):
        rows.append(asked)
    return rows


if __name__ == "__main__":
    main()
