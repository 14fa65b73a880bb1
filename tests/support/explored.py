"""Fronts of real networks, as the numeric part of what ``dse.explore`` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paretosoc.dse.engines.explore import SearchSettings, explore_problem
from paretosoc.dse.engines.optimizers import optimizer_named
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.front.front import Front


def explore(
    networks: Sequence[str] | Workload,
    platform: str,
    *,
    options: Options | None = None,
    engine: str = "nsga2",
    **settings: Any,
) -> Front:
    """Build the problem and search, without a proof."""
    chip = load_platform(platform)
    workload = networks if isinstance(networks, Workload) else workload_from(networks)
    built = build_problem(workload, chip, options)
    optimizer = optimizer_named(engine)
    return explore_problem(
        built, SearchSettings(**settings), platform=chip.name, optimizer=optimizer
    )
