"""All methods side by side on one problem, with the optimum, proved if it can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.deadline import Deadline
from paretosoc.dse.baselines.evaluate_all import (
    BASELINES,
    baseline_points,
    compared_objective,
    method_of,
)
from paretosoc.dse.certificate.certify import DEFAULT_NODES, Limits, prove
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.certificate.preconditions import certified_column
from paretosoc.dse.engines.explore import SearchSettings, explore_problem
from paretosoc.dse.problem.build import BuiltProblem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.platforms.platform import Platform
from paretosoc.results.front.front import BaselinePoint, CertificateSummary, Member
from paretosoc.results.front.mapping_gain import is_one_unit
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import rate_uhz
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime, usual_runtime

EVALUATIONS = 5_000
"""Evaluations of the search if nothing can be proved."""


@dataclass(frozen=True, eq=False)
class BaselineRow:
    """One method, or the optimum. Gains are shares of the compared value: 0.1 is 10 %."""

    name: str
    label: str
    member: Member
    breaks: tuple[str, ...]
    gain: float
    """Gain over the best baseline that keeps all constraints, below 0 if it is worse."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The methods in the order of HaX-CoNN's tables, and the optimum.

    ``best``: name of the best baseline that keeps all constraints, or None if none does. ``claim``:
    the proved claim about the optimum, or None if it is merely the best one found.
    """

    problem: Problem
    methods: tuple[BaselineRow, ...]
    optimum: BaselineRow
    best: str | None
    left_out: tuple[str, ...]
    """Labels of the methods that do not apply."""
    claim: CertificateSummary | None


def compare(
    built: BuiltProblem,
    platform: str,
    *,
    max_nodes: int | None = None,
    time_limit_s: float | None = None,
    seed: int = 0,
    jobs: int | None = 1,
) -> Comparison:
    """Run all methods and the search, and prove the optimum of the first objective if that is
    the makespan or Eq. 10.

    Raises:
        InfeasibleError: if no design point found keeps all constraints.
        ResultError: if a constraint has no lemmas.
    """
    problem = built.problem
    column = compared_objective(problem)
    provable = problem.objectives[column].kind is not ObjectiveKind.THROUGHPUT
    # The exact search finds the optimum by itself and needs only a first point to beat.
    known = baseline_points(DesignSpace(problem)) if provable else ()
    rows = [point.member.design.row for point in known if not point.breaks]
    if rows:
        front = seed_front(
            problem, np.stack(rows), engine="baselines", platform=platform, baselines=known
        )
    else:
        settings = SearchSettings(max_evaluations=EVALUATIONS, seed=seed, jobs=jobs)
        front = explore_problem(built, settings, platform=platform)
    certified = certified_column(problem)
    if provable and certified is not None:
        limits = Limits(max_nodes or DEFAULT_NODES, Deadline.after(time_limit_s))
        proved = prove(front, (certified,), limits=limits)
        front = replace(proved.front, certificate=proved.claim)
    objective = problem.objectives[column]
    values = [member.objectives[column] for member in front.members]
    optimum = front.members[values.index(min(values))]
    # One unit per network at free clocks is no method of others, and here clocks are fixed.
    points = [point for point in front.baselines if not is_one_unit(point)]
    kept = [point for point in points if not point.breaks]
    best = min(kept, key=lambda point: point.member.objectives[column], default=None)
    # Gains are against the best baseline; without one, against the optimum itself.
    reference = (optimum if best is None else best.member).objectives[column]

    def entry(point: BaselinePoint) -> BaselineRow:
        gain = improvement(objective, point.member.objectives[column], reference)
        return BaselineRow(point.name, point.label, point.member, point.breaks, gain)

    applied = {method_of(point.name) for point in points}
    return Comparison(
        problem=problem,
        # For a method that has a front, the best point in the compared objective comes first.
        methods=tuple(
            entry(point) for point in {point.name: point for point in reversed(points)}.values()
        )[::-1],
        optimum=entry(BaselinePoint("optimum", "optimum", member=optimum)),
        best=None if best is None else best.name,
        left_out=tuple(method.label for method in BASELINES if method.name not in applied),
        claim=front.certificate,
    )


def improvement(objective: Objective, value: int, reference: int) -> float:
    """Return the share by which a value is better than a reference, as HaX-CoNN counts it: ratio -
    1.

    Times are compared as their inverses, so 10 ms is 50 % better than 15 ms.
    """
    if objective.kind is ObjectiveKind.INVERSE_LATENCY:
        return value / reference - 1
    # A window may be empty if many units end their frames at one instant.
    return reference / max(1, value) - 1


def rate_sum(member: Member) -> float:
    """Return Eq. 10 of HaX-CoNN: the sum of the networks' inverse latencies, inferences/s."""
    return sum(rate_uhz(max(latency, 1)) for latency in member.latencies_ps) / 1e6


def two_accelerators(platform: Platform, runtime: str | None = None) -> tuple[str, ...] | None:
    """Return the GPU and the first unit that is neither GPU nor CPU, as in HaX-CoNN's experiments,
    or None if the runtime, by default the board's, serves no such pair."""
    chosen = Runtime(runtime) if runtime else usual_runtime(platform)
    served = RUNTIMES[chosen].places(platform)
    units = [unit for unit in platform.units if unit.name in served]
    gpus = [unit.name for unit in units if unit.kind == "gpu"]
    others = [unit.name for unit in units if unit.kind not in ("gpu", "cpu")]
    return (gpus[0], others[0]) if gpus and others else None
