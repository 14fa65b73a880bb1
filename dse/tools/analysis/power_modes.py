"""What the power modes that a board comes with cost for the mappings of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from dse.problem.constraint_status import constraint_states
from fitness.objectives import make_outcomes
from platforms.deployment import PowerMode, PowerModes
from results.deploy.deployment import Deployment
from results.deploy.nvpmodel_section import ModeCost
from results.problem.objectives import Objective, ObjectiveKind
from results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class _Mapped:
    """A member's mapping at the clocks of a mode; ``missing``: domains that the mode turns off."""

    points: tuple[int, ...]
    """The operating point of each domain."""
    clocks_khz: tuple[tuple[str, int | None], ...]
    distance: float
    missing: tuple[str, ...]


def mode_costs(deployments: Sequence[Deployment], modes: PowerModes) -> list[tuple[ModeCost, ...]]:
    """For each member every mode, all clocks at their caps on the ladder, simulated by the
    timeline.

    Args:
        deployments: members of one front, at least one; they are simulated together, which costs
            little more than one.
    """
    problem = deployments[0].problem
    points_at_caps = [_points_at_caps(problem, mode) for mode in modes.modes]
    mapped = [_mapped(deployment, points_at_caps) for deployment in deployments]
    units = np.array([deployment.member.design.units for deployment in deployments])
    points = np.array([entry.points for entries in mapped for entry in entries])
    rows = np.hstack([units.repeat(len(points_at_caps), axis=0), points])
    figures = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY))
    outcomes = make_outcomes(replace(problem, objectives=figures))(rows)
    costs = []
    for d, (deployment, entries) in enumerate(zip(deployments, mapped, strict=True)):
        of_member = []
        for m, (mode, entry) in enumerate(zip(modes.modes, entries, strict=True)):
            if entry.missing:
                remark = f"cannot run: {', '.join(entry.missing)} is off, and this member uses it"
                of_member.append(
                    ModeCost(mode, entry.clocks_khz, entry.distance, None, None, (remark,))
                )
                continue
            index = d * len(entries) + m
            makespan, energy = outcomes.objectives[index].tolist()
            broken = []
            if not outcomes.feasible[index]:
                states = constraint_states(problem, outcomes, index)
                broken = [state.describe() for state in states if not state.met]
            of_member.append(
                ModeCost(
                    mode=mode,
                    clocks_khz=entry.clocks_khz,
                    distance=entry.distance,
                    makespan_ps=makespan,
                    energy_fj=energy,
                    remarks=(*_takes_longer(deployment, modes, mode), *broken),
                )
            )
        costs.append(tuple(of_member))
    return costs


def _points_at_caps(problem: Problem, mode: PowerMode) -> list[int | None]:
    """For each domain the highest operating point that the mode allows; None: no such."""
    caps = dict(mode.caps_khz)
    points: list[int | None] = []
    for domain in problem.domains:
        cap, ladder = caps.get(domain.name), domain.frequencies_khz
        below = [p for p, khz in enumerate(ladder) if cap is None or khz <= cap]
        points.append(below[-1] if below else None)
    return points


def _mapped(
    deployment: Deployment, points_at_caps: Sequence[Sequence[int | None]]
) -> list[_Mapped]:
    """The member with every clock at a mode's cap on the ladder, for each mode."""
    wanted = deployment.clocks_khz
    mapped = []
    for at_caps in points_at_caps:
        points = deployment.member.design.operating_points.tolist()
        clocks: list[tuple[str, int | None]] = []
        distance = 0.0
        missing: list[str] = []
        for d, (domain, point) in enumerate(zip(deployment.problem.domains, at_caps, strict=True)):
            exact, khz = wanted[domain.name], None
            if exact is not None and point is None:
                missing.append(domain.name)
            elif exact is not None and point is not None:
                points[d], khz = point, domain.frequencies_khz[point]
                distance += abs(log(khz / exact))
            clocks.append((domain.name, khz))
        mapped.append(_Mapped(tuple(points), tuple(clocks), distance, tuple(missing)))
    return mapped


def _takes_longer(deployment: Deployment, modes: PowerModes, mode: PowerMode) -> tuple[str, ...]:
    """Why the figures are at best: units that the mode takes something away from."""
    problem, platform = deployment.problem, deployment.platform
    used = {problem.units[u].name for u in deployment.member.design.units.tolist()}
    kinds = {platform.unit_by_name[name].kind for name in used}
    most = modes.modes[0].cores
    remarks = []
    if mode.cores < most and "cpu" in kinds:
        remarks.append(f"at best, with {mode.cores} of {most} cores on line")
    if not mode.all_gpu and "gpu" in kinds:
        remarks.append("at best, for the GPU has fewer processors")
    return tuple(remarks)
