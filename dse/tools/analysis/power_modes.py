"""What the power modes that a board comes with cost for the mappings of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from common.arrays import IntArray
from dse.problem.constraint_status import constraint_states
from fitness.objectives import make_outcomes
from platforms.deployment import PowerMode, PowerModes
from results.deploy.deployment import Deployment
from results.deploy.nvpmodel_section import ModeCost
from results.problem.objectives import Objective, ObjectiveKind


@dataclass(frozen=True, eq=False)
class _Mapped:
    """A member's mapping at the clocks of a mode; ``missing``: domains that the mode turns off."""

    row: IntArray
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
    mapped = [[_mapped(d, mode) for mode in modes.modes] for d in deployments]
    rows = np.stack([entry.row for entries in mapped for entry in entries])
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
            states = constraint_states(problem, outcomes, index)
            broken = [state.in_words() for state in states if not state.met]
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


def _mapped(deployment: Deployment, mode: PowerMode) -> _Mapped:
    """The member with every clock at the mode's cap on the ladder."""
    caps, wanted = dict(mode.caps_khz), deployment.clocks_khz
    points = deployment.member.design.operating_points.copy()
    clocks: list[tuple[str, int | None]] = []
    distance = 0.0
    missing: list[str] = []
    for d, domain in enumerate(deployment.problem.domains):
        cap, exact = caps.get(domain.name), wanted[domain.name]
        if exact is None:
            clocks.append((domain.name, None))
            continue
        below = [p for p, khz in enumerate(domain.frequencies_khz) if cap is None or khz <= cap]
        if not below:
            missing.append(domain.name)
            clocks.append((domain.name, None))
            continue
        points[d] = below[-1]
        khz = domain.frequencies_khz[below[-1]]
        clocks.append((domain.name, khz))
        distance += abs(log(khz / exact))
    row = np.concatenate([deployment.member.design.units, points])
    return _Mapped(row, tuple(clocks), distance, tuple(missing))


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
