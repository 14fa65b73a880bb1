"""The workloads of MapFormer's Section 5: random mixes of torchvision's 80 networks."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.dse.papers.estimator.training.workloads import build, random_workload
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.catalogue.catalogue import catalogue

SEED = 2024
SIZES, CAPS_W = (6, 8, 10), (10, 15, 30)
"""Networks and power caps of Fig. 7."""
MAX_POWER_W = 30
"""Of the board (5.3): a threshold of 30 W is none."""
OBJECTIVES = (ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER, ObjectiveKind.EFFICIENCY)

TORCHVISION_TOO = (
    "alexnet", "densenet121", "googlenet", "mobilenet_v2", "resnet101", "resnet152", "resnet18",
    "resnet50", "vgg16", "vgg19",
)  # fmt: skip
"""Networks of torchvision that the catalogue has from elsewhere under the same name."""


@dataclass(frozen=True)
class Mix:
    """Networks that run together under a power cap; ``number`` counts mixes of a kind from 0."""

    networks: tuple[str, ...]
    cap_w: int
    number: int


def torchvision_networks() -> tuple[str, ...]:
    """Return the names of torchvision's classification networks, in alphabetical order."""
    exported = (
        entry.name
        for entry in catalogue()
        if entry.origin.startswith("torchvision")
        and "top-1" in getattr(entry.accuracy, "metric", "")
    )
    return tuple(sorted((*TORCHVISION_TOO, *exported)))


def mixes(size: int, cap_w: int, count: int) -> list[Mix]:
    """``count`` mixes of ``size`` networks, the same every time; other caps have other mixes."""
    found = []
    for number in range(count):
        rng = np.random.default_rng([SEED, size, cap_w, number])
        networks = random_workload(rng, torchvision_networks(), least=size, most=size)
        found.append(Mix(networks, cap_w, number))
    return found


def problem_of(mix: Mix, known: MutableMapping[Hashable, NetworkTables]) -> Problem:
    """Free-running, with the objectives throughput, power and efficiency.

    Args:
        known: networks that earlier calls have cut and costed; new ones are added.
    """
    return replace(
        build(mix.networks, known=known),
        objectives=tuple(Objective(kind) for kind in OBJECTIVES),
        power_cap_mw=1000 * mix.cap_w,
    )
