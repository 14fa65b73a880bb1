"""Certified Pareto fronts of latency, throughput and energy for networks that share a chip.

    >>> import paretosoc as dse
    >>> front = dse.explore(["vgg19", "resnet50"], "jetson-agx-xavier", max_evaluations=5_000)
    >>> front["fastest"].latency_ms, front["knee"].clocks_mhz

Everything that users need is here; names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretosoc.dse.api.choose import choose as choose
    from paretosoc.dse.api.deployment import MeasurementPlan as MeasurementPlan
    from paretosoc.dse.api.deployment import deploy as deploy
    from paretosoc.dse.api.deployment import plan_measurements as plan_measurements
    from paretosoc.dse.api.evaluation import Evaluated as Evaluated
    from paretosoc.dse.api.evaluation import evaluate as evaluate
    from paretosoc.dse.api.front import Front as Front
    from paretosoc.dse.api.front import load as load
    from paretosoc.dse.api.indicators import attainment as attainment
    from paretosoc.dse.api.indicators import compare as compare
    from paretosoc.dse.api.indicators import statistics as statistics
    from paretosoc.dse.api.limits import limits as limits
    from paretosoc.dse.api.member import Member as Member
    from paretosoc.dse.api.pipeline import explore as explore
    from paretosoc.dse.api.problem import Problem as Problem
    from paretosoc.dse.api.proof import certify as certify
    from paretosoc.dse.api.verification import Verification as Verification
    from paretosoc.dse.api.verification import verify as verify
    from paretosoc.dse.engines.optimizers import NSGA2 as NSGA2
    from paretosoc.dse.engines.optimizers import Optimizer as Optimizer
    from paretosoc.dse.engines.optimizers import Pymoo as Pymoo
    from paretosoc.dse.engines.optimizers import annealing as annealing
    from paretosoc.dse.engines.optimizers import exact as exact
    from paretosoc.dse.engines.optimizers import exhaustive as exhaustive
    from paretosoc.dse.engines.optimizers import random_search as random_search
    from paretosoc.dse.errors import DseError as DseError
    from paretosoc.dse.errors import InfeasibleError as InfeasibleError
    from paretosoc.dse.search.driver import Progress as Progress
    from paretosoc.dse.version import VERSION as __version__  # noqa: F401
    from paretosoc.dse.workload.workload import Workload as Workload
    from paretosoc.platforms.io.platform_file import load_platform
    from paretosoc.platforms.platform import Platform as Platform
    from paretosoc.results.problem.own_objective import OwnObjective as OwnObjective
    from paretosoc.sdf.grouping.options import Grouping as Grouping

    platform = load_platform

_EXPORTS = {
    name: f"paretosoc.{module}"
    for module, names in {
        "dse.api.choose": "choose",
        "dse.api.deployment": "MeasurementPlan deploy plan_measurements",
        "dse.api.evaluation": "Evaluated evaluate",
        "dse.api.front": "Front load",
        "dse.api.indicators": "attainment compare statistics",
        "dse.api.limits": "limits",
        "dse.api.member": "Member",
        "dse.api.pipeline": "explore",
        "dse.api.problem": "Problem",
        "dse.api.proof": "certify",
        "dse.api.verification": "Verification verify",
        "dse.engines.optimizers": "NSGA2 Optimizer Pymoo annealing exact exhaustive random_search",
        "dse.errors": "DseError InfeasibleError",
        "dse.search.driver": "Progress",
        "dse.workload.workload": "Workload",
        "platforms.platform": "Platform",
        "results.problem.own_objective": "OwnObjective",
        "sdf.grouping.options": "Grouping",
    }.items()
    for name in names.split()
}
_RENAMED = {
    "platform": ("paretosoc.platforms.io.platform_file", "load_platform"),
    "__version__": ("paretosoc.dse.version", "VERSION"),
}

__all__ = sorted((*_EXPORTS, "platform"))


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    if name in _RENAMED:
        module, attribute = _RENAMED[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'paretosoc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
