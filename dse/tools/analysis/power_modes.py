"""Cost of the board's power modes for the mappings of members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from math import log

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.dse.problem.constraint_status import constraint_states
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.deployment import PowerMode, PowerModes
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.nvpmodel_section import ModeCost, times_of
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
    members = [deployment.member for deployment in deployments]
    own = np.array([member.design.operating_points for member in members])
    on = np.array([member.domain_on for member in members])
    at_caps = [_points_at_caps(problem, mode) for mode in modes.modes]
    mapped = [_mapped(own, on, caps) for caps in at_caps]
    units = np.array([member.design.units for member in members])
    settings = problem.group_count + len(problem.domains)
    priorities = np.array([member.design.row[settings:] for member in members])
    rows = np.vstack([np.hstack([units, points, priorities]) for points in mapped])
    figures = [Objective(ObjectiveKind.LATENCY)]
    if problem.has_rates:
        figures = [Objective(ObjectiveKind.RESPONSE, n) for n in range(len(problem.networks))]
    figures.append(Objective(ObjectiveKind.ENERGY))
    outcomes = make_outcomes(replace(problem, objectives=tuple(figures)))(rows)
    values = outcomes.objectives.tolist()
    clocks = cache(partial(_clocks, problem))
    costs = []
    for i, (deployment, member) in enumerate(zip(deployments, members, strict=True)):
        kinds = _kinds(deployment)
        times_ps = times_of(problem, member.makespan_ps, member.latencies_ps)
        figures_of = [*times_ps, member.energy_fj]
        of_member = []
        for m, (mode, caps) in enumerate(zip(modes.modes, at_caps, strict=True)):
            clocks_khz, missing = clocks(caps, member.domain_on)
            if missing:
                remark = f"cannot run: {', '.join(missing)} is off, and this member uses it"
                of_member.append(ModeCost(mode, clocks_khz, None, None, None, (remark,)))
                continue
            row = m * len(members) + i
            *times, energy = values[row]
            states = constraint_states(problem, outcomes, row)
            broken = [state for state in states if not state.met]
            if any(state.constraint.kind is OVERLOAD for state in broken):
                of_member.append(ModeCost(mode, clocks_khz, None, None, None, (OVERLOADED,)))
                continue
            remarks = (
                *_other_processors(kinds, modes, mode),
                *(state.describe() for state in broken),
            )
            distance = max(abs(log(a / b)) for a, b in zip(values[row], figures_of, strict=True))
            cost = ModeCost(mode, clocks_khz, distance, tuple(times), energy, remarks)
            of_member.append(cost)
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


def _mapped(own: IntArray, on: BoolArray, caps: _Caps) -> IntArray:
    """Return the operating points [members, domains] with clocks that are on at a mode's cap."""
    points = own.copy()
    for d, point in enumerate(caps):
        if point is not None:
            points[on[:, d], d] = point
    return points


def _clocks(
    problem: Problem, caps: _Caps, on: tuple[bool, ...]
) -> tuple[tuple[tuple[str, int | None], ...], tuple[str, ...]]:
    """Return the clock of each domain at a mode's caps (None: off), and which the mode turns off
    although they are used."""
    clocks = problem.clocks_khz(cap if used else None for cap, used in zip(caps, on, strict=True))
    missing = tuple(
        domain.name
        for domain, point, used in zip(problem.domains, caps, on, strict=True)
        if used and point is None
    )
    return tuple(clocks.items()), missing


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
