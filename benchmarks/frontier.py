"""How large a problem the default command proves: networks, groups, units and unit changes.

Every row is a whole ``dse explore`` and a ``dse verify`` of its folder, in this process.

Usage: ``python -m benchmarks.frontier [--evaluations 100000] [--quick]
[--json | --markdown]``; some minutes, with --quick one.
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

EVALUATIONS = 100_000
QUICK = 3
XAVIER, ORIN = "jetson-agx-xavier", "jetson-agx-orin"
COLUMNS = (
    Column("workload", "workload"),
    Column("groups", "groups", ",d"),
    Column("units", "units"),
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
    units: tuple[str, ...] | None = None


CASES = (
    Case(XAVIER, ("resnet50",)),
    Case(XAVIER, ("vgg19", "resnet50"), 12),
    Case(XAVIER, ("vgg19", "resnet50")),
    Case(XAVIER, ("resnet50", "mobilenet_v2", "googlenet"), 12, ("gpu", "dla0")),
    Case(XAVIER, ("resnet50", "mobilenet_v2", "googlenet"), 12),
    Case(ORIN, ("resnet50", "mobilenet_v2", "swin_t")),
    Case(XAVIER, ("resnet50", "mobilenet_v2", "googlenet", "efficientnet_b0"), 12),
)


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return a row of the table."""
    problem = dse.Problem(list(case.networks), case.platform, groups=case.groups, units=case.units)
    with TemporaryDirectory() as name:
        folder = Path(name) / "run"
        began = time.process_time()
        settings = SearchSettings(max_evaluations=evaluations)
        front = explore_to_folder(problem, folder, settings=settings).front.numeric
        explored = time.process_time()
        status = exit_status(list(verify(folder)))
        verified = time.process_time()
    if status != 0:
        raise AssertionError(f"{case}: the proof does not hold")
    claims = [claim for claim in (front.certificate, front.epsilon) if claim is not None]
    return {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "groups": front.problem.group_count,
        "units": len(set(front.problem.unit_of)),
        "members": len(front.members),
        "front": _front(front),
        "fastest": "" if front.certificate is None else front.certificate.status.value,
        "nodes": sum(claim.nodes for claim in claims),
        "seconds": explored - began,
        "verify": verified - explored,
    }


def _front(front: Front) -> str:
    if front.is_complete:
        return "complete"
    claim = front.epsilon or front.bounds
    return "" if claim is None else within(claim.epsilon_ppm)


if __name__ == "__main__":
    tabulate(
        "benchmarks.frontier",
        "What the default command proves",
        COLUMNS,
        CASES,
        measure,
        ("evaluations", EVALUATIONS),
        quick=QUICK,
    )
