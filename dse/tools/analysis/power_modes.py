"""Cost of the board's power modes for the mappings of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.problem.constraint_status import constraint_states
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.platforms.deployment import PowerMode, PowerModes
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.nvpmodel_section import ModeCost, times_of
from paretosoc.results.front.front import Member
from paretosoc.results.problem.limits import OVERLOAD
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.rates import OVERLOADED

_Caps = tuple[int | None, ...]
"""The operating point of each domain at the caps of a mode; None: the domain is off."""


def mode_costs(deployments: Sequence[Deployment], modes: PowerModes) -> list[tuple[ModeCost, ...]]:
    """Evaluate every power mode by its number for each member: all clocks at their caps on the
    ladder, simulated by the timeline.

    Args:
        deployments: members of one front, at least one. They are simulated together, which costs
            little more than one.

    Raises:
        ResultError: if figures of the problem may not fit in int64, as in a file that was edited.
    """
    problem = deployments[0].problem
    check_magnitudes(problem)
    at_caps = [_points_at_caps(problem, mode) for mode in modes.modes]
    rows = [_mapped(each.member, caps) for each in deployments for caps in at_caps]
    figures = [Objective(ObjectiveKind.LATENCY)]
    if problem.has_rates:
        figures = [Objective(ObjectiveKind.RESPONSE, n) for n in range(len(problem.networks))]
    figures.append(Objective(ObjectiveKind.ENERGY))
    outcomes = make_outcomes(replace(problem, objectives=tuple(figures)))(np.array(rows))
    costs = []
    for i, deployment in enumerate(deployments):
        of_member = [
            _cost(deployment, modes, mode, caps, outcomes, i * len(at_caps) + m)
            for m, (mode, caps) in enumerate(zip(modes.modes, at_caps, strict=True))
        ]
        costs.append(tuple(sorted(of_member, key=lambda cost: cost.mode.number)))
    return costs


def _points_at_caps(problem: Problem, mode: PowerMode) -> _Caps:
    """Return the highest operating point that the mode allows for each domain, or None."""
    caps = dict(mode.caps_khz)
    points: list[int | None] = []
    for domain in problem.domains:
        cap, ladder = caps.get(domain.name), domain.frequencies_khz
        below = [p for p, khz in enumerate(ladder) if cap is None or khz <= cap]
        points.append(below[-1] if below else None)
    return tuple(points)


def _mapped(member: Member, caps: _Caps) -> IntArray:
    """Return the row of a member with clocks that are on at a mode's caps."""
    row = member.design.row.copy()
    for d, (point, is_on) in enumerate(zip(caps, member.domain_on, strict=True)):
        if point is not None and is_on:
            row[len(member.design.units) + d] = point
    return row


def _cost(
    deployment: Deployment,
    modes: PowerModes,
    mode: PowerMode,
    caps: _Caps,
    outcomes: Outcomes,
    row: int,
) -> ModeCost:
    """Return the cost of a mode from the outcomes of its row."""
    problem, member = deployment.problem, deployment.member
    points = [cap if is_on else None for cap, is_on in zip(caps, member.domain_on, strict=True)]
    clocks_khz = problem.clocks_khz(points)
    missing = [
        domain.name
        for domain, point, is_on in zip(problem.domains, points, member.domain_on, strict=True)
        if is_on and point is None
    ]
    values = outcomes.objectives[row].tolist()
    broken = [state for state in constraint_states(problem, outcomes, row) if not state.met]
    reason = f"cannot run: {', '.join(missing)} is off, and this member uses it" if missing else ""
    if not missing and any(state.constraint.kind is OVERLOAD for state in broken):
        reason = OVERLOADED
    if reason:
        return ModeCost(mode, tuple(clocks_khz.items()), None, None, None, (reason,))
    own = (*times_of(problem, member.makespan_ps, member.latencies_ps), member.energy_fj)
    *times, energy = values
    return ModeCost(
        mode,
        tuple(clocks_khz.items()),
        max(abs(log(a / b)) for a, b in zip(values, own, strict=True) if b),
        tuple(times),
        energy,
        (
            *_other_processors(_kinds(deployment), modes, mode),
            *(state.describe() for state in broken),
        ),
    )


def _kinds(deployment: Deployment) -> set[str]:
    """Return the kinds of the units that the member uses."""
    names = {deployment.problem.units[u].unit_name for u in deployment.member.design.units.tolist()}
    return {deployment.platform.unit_by_name[name].kind for name in names}


def _other_processors(kinds: set[str], modes: PowerModes, mode: PowerMode) -> tuple[str, ...]:
    """Return remarks on units of which the mode has fewer processors, or more."""
    shares, own = modes.shares(mode), modes.modes[0].cores
    remarks = []
    if "cpu" in kinds and shares["cpu"] < 1:
        remarks.append(f"at best, with {mode.cores} of {own} cores on line")
    elif "cpu" in kinds and shares["cpu"] > 1:
        remarks.append(f"for {own} cores on line, not {mode.cores}")
    if "gpu" in kinds and shares["gpu"] < 1:
        remarks.append("at best, for the GPU has fewer processors")
    elif "gpu" in kinds and shares["gpu"] > 1:
        remarks.append("for a GPU with fewer processors")
    return tuple(remarks)
