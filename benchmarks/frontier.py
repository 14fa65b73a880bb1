"""How large a problem is proved in a minute: networks, groups, units and clocks.

Every row is a whole ``dse explore --jobs 1`` with a time limit in CPU seconds, and a ``dse verify``
of its folder, in this process.

Usage: ``python -m benchmarks.frontier [--seconds 60] [--quick] [--json | --markdown]``; up to ten
minutes, with --quick one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import paretosoc as dse
from benchmarks.harness.report import Column, Value, tabulate
from paretosoc.dse.api.pipeline import explore_to_folder
from paretosoc.dse.certificate.verify.verify import exit_status, verify
from paretosoc.dse.engines.explore import SearchSettings
from paretosoc.results.front.epsilon import within
from paretosoc.results.front.front import Front

SECONDS = 60
QUICK = 3
XAVIER, ORIN = "jetson-agx-xavier", "jetson-agx-orin"
COLUMNS = (
    Column("workload", "workload"),
    Column("groups", "groups", ",d"),
    Column("units", "units"),
    Column("clocks", "clocks"),
    Column("members", "members", ",d"),
    Column("front", "front"),
    Column("fastest", "fastest"),
    Column("nodes", "nodes", ",d"),
    Column("seconds", "CPU-s", ".1f"),
    Column("verify", "verify CPU-s", ".1f"),
)


@dataclass(frozen=True)
class Case:
    """A workload on a board, and the options that limit its space."""

    platform: str
    networks: tuple[str, ...]
    groups: int | None = None
    runtime: str | None = None
    """With ``none`` the CPU is a unit, too."""
    fixed: tuple[str, ...] = ()
    """Domains at their fastest clocks."""


CLOCKS = ("cpu", "gpu", "dla", "emc")
THREE = ("resnet50", "mobilenet_v2", "googlenet")
CASES = (
    Case(XAVIER, ("resnet50",)),
    Case(XAVIER, ("vgg19", "resnet50"), 12),
    Case(XAVIER, THREE, 12, "none", CLOCKS),
    Case(XAVIER, THREE, 12, "none"),
    Case(XAVIER, ("resnet50", "mobilenet_v2"), 24, "none"),
    Case(XAVIER, (*THREE, "efficientnet_b0"), 24, "none"),
    Case(ORIN, ("resnet50", "mobilenet_v2", "swin_t")),
)


def measure(case: Case, seconds: int) -> dict[str, Value]:
    """Return a row of the table."""
    problem = dse.Problem(
        list(case.networks),
        case.platform,
        groups=case.groups,
        runtime=case.runtime,
        fixed=dict.fromkeys(case.fixed, "max"),
    )
    with TemporaryDirectory() as name:
        folder = Path(name) / "run"
        began = time.process_time()
        settings = SearchSettings(time_limit_s=float(seconds), jobs=1)
        explored = explore_to_folder(problem, folder, settings=settings, clock=time.process_time)
        searched = time.process_time()
        status = exit_status(list(verify(folder)))
        verified = time.process_time()
    if status != 0:
        raise AssertionError(f"{case}: the proof does not hold")
    front = explored.front.numeric
    claims = [claim for claim in (front.certificate, front.epsilon) if claim is not None]
    return {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "groups": front.problem.group_count,
        "units": len(set(front.problem.unit_of)),
        "clocks": "fastest" if case.fixed else "all",
        "members": len(front.members),
        "front": _front(front),
        "fastest": _fastest(front),
        "nodes": sum(claim.nodes for claim in claims),
        "seconds": searched - began,
        "verify": verified - searched,
    }


def _fastest(front: Front) -> str:
    claim = front.certificate
    if claim is None or not claim.epsilon_ppm:
        return "" if claim is None else claim.status.value
    return within(claim.epsilon_ppm)


def _front(front: Front) -> str:
    if front.is_complete:
        return "complete"
    return "" if front.proved_ppm is None else within(front.proved_ppm)


if __name__ == "__main__":
    tabulate(
        "benchmarks.frontier",
        "What is proved within CPU seconds",
        COLUMNS,
        CASES,
        measure,
        ("seconds", SECONDS),
        quick=QUICK,
    )
