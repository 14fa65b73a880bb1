"""The problems that searches are compared on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common.arrays import IntArray
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem import Problem

REFERENCE_FRONT = Path(__file__).parents[1] / "data" / "reference_front.json"
TEN_NETWORKS = (
    *("vgg16", "vgg19", "googlenet", "inception_v1", "resnet18"),
    *("resnet50", "squeezenet", "shufflenet", "mobilenet_v1", "mobilenet_v2"),
)
GROUPS_EACH = 21


@dataclass(frozen=True)
class SearchProblem:
    """A problem. ``solved``: the exact search ends on it within seconds."""

    name: str
    make: Callable[[], Problem]
    solved: bool


def reference_front() -> IntArray:
    """Return [73, 2]: the front that exhaustive search over all 58,720,256 design points found."""
    document = json.loads(REFERENCE_FRONT.read_text())
    return np.array(document["objectives"], dtype=np.int64)


def two_networks() -> Problem:
    """Return VGG-19 and ResNet-50 on the GPU and a DLA of Xavier.

    The memory is at its fastest clock, and each network has at most two transitions.
    """
    options = Options(units=("gpu", "dla0"), fixed=(("emc", "max"),), max_transitions=((None, 2),))
    return _on_xavier(("vgg19", "resnet50"), options).problem


def ten_networks_built() -> BuiltProblem:
    """Return ten networks on all units of Xavier at all clocks."""
    return _on_xavier(TEN_NETWORKS, Options(groups=GROUPS_EACH))


def _on_xavier(networks: tuple[str, ...], options: Options) -> BuiltProblem:
    chip = load_platform("jetson-agx-xavier")
    return build_problem(workload_from(networks), chip, options)


PROBLEMS = (
    SearchProblem("reference", reference_problem, solved=True),
    SearchProblem("two networks", two_networks, solved=True),
    SearchProblem("ten networks", lambda: ten_networks_built().problem, solved=False),
)
