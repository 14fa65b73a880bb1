"""Spaces whose problems ask for throughput, for engines that need it."""

from __future__ import annotations

from dataclasses import replace

from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind


def with_throughput(space: DesignSpace) -> DesignSpace:
    """The same groups, units and clocks, for throughput against energy, two frames in flight."""
    kinds = (ObjectiveKind.THROUGHPUT, ObjectiveKind.ENERGY)
    return DesignSpace(
        replace(
            space.problem,
            objectives=tuple(Objective(kind) for kind in kinds),
            execution=Pipeline(2),
        )
    )
