"""Certified Pareto fronts of latency, throughput and energy for networks that share a chip.

    >>> import dse
    >>> front = dse.explore(["vgg19", "resnet50"], "jetson-agx-xavier", max_evaluations=5_000)
    >>> front["fastest"].latency_ms, front["knee"].clocks_mhz

Everything that users need is here; names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dse.api.deployment import deploy as deploy
    from dse.api.evaluation import Evaluated as Evaluated
    from dse.api.evaluation import evaluate as evaluate
    from dse.api.front import Front as Front
    from dse.api.front import load as load
    from dse.api.limits import limits as limits
    from dse.api.member import Member as Member
    from dse.api.pipeline import certify as certify
    from dse.api.pipeline import explore as explore
    from dse.api.problem import Problem as Problem
    from dse.api.verification import Verification as Verification
    from dse.api.verification import verify as verify
    from dse.engines.optimizers import NSGA2 as NSGA2
    from dse.engines.optimizers import Optimizer as Optimizer
    from dse.engines.optimizers import Pymoo as Pymoo
    from dse.engines.optimizers import annealing as annealing
    from dse.engines.optimizers import exact as exact
    from dse.engines.optimizers import exhaustive as exhaustive
    from dse.engines.optimizers import random_search as random_search
    from dse.errors import DseError as DseError
    from dse.errors import InfeasibleError as InfeasibleError
    from dse.version import VERSION as __version__  # noqa: F401
    from dse.workload.workload import Workload as Workload
    from platforms.io.platform_file import load_platform as platform
    from platforms.platform import Platform as Platform

_EXPORTS = {
    "deploy": "dse.api.deployment",
    "Evaluated": "dse.api.evaluation",
    "evaluate": "dse.api.evaluation",
    "Front": "dse.api.front",
    "load": "dse.api.front",
    "limits": "dse.api.limits",
    "Member": "dse.api.member",
    "certify": "dse.api.pipeline",
    "explore": "dse.api.pipeline",
    "Problem": "dse.api.problem",
    "Verification": "dse.api.verification",
    "verify": "dse.api.verification",
    "NSGA2": "dse.engines.optimizers",
    "Optimizer": "dse.engines.optimizers",
    "Pymoo": "dse.engines.optimizers",
    "annealing": "dse.engines.optimizers",
    "exact": "dse.engines.optimizers",
    "exhaustive": "dse.engines.optimizers",
    "random_search": "dse.engines.optimizers",
    "DseError": "dse.errors",
    "InfeasibleError": "dse.errors",
    "Workload": "dse.workload.workload",
    "Platform": "platforms.platform",
}
_RENAMED = {
    "platform": ("platforms.io.platform_file", "load_platform"),
    "__version__": ("dse.version", "VERSION"),
}

__all__ = [
    "NSGA2",
    "DseError",
    "Evaluated",
    "Front",
    "InfeasibleError",
    "Member",
    "Optimizer",
    "Platform",
    "Problem",
    "Pymoo",
    "Verification",
    "Workload",
    "annealing",
    "certify",
    "deploy",
    "evaluate",
    "exact",
    "exhaustive",
    "explore",
    "limits",
    "load",
    "platform",
    "random_search",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    if name in _RENAMED:
        module, attribute = _RENAMED[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'dse' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
