"""The problem of one period, in which nothing waits for anything, and a bound on its makespan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.results.problem.execution import OneFrame
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemNetwork
from paretosoc.results.problem.problem import Problem


def period_problem(problem: Problem) -> Problem:
    """Its makespan is the period of a retimed pipeline in which every unit runs its groups back to
    back in their order, contention included; so any engine, and the exact search, can look for the
    least period. Rows are those of ``problem``; energy is that of one frame in one period.

    Left out, since retiming keeps or delays it: dependences, transitions, waiting, arrivals. Left
    out, since single groups cannot express it: limits on transitions and segments, deadlines; so
    rows found must be held against ``problem`` itself.
    """
    networks = tuple(
        ProblemNetwork(f"{network.name}: {name}", network.first_group + place, group_names=(name,))
        for network in problem.networks
        for place, name in enumerate(network.group_names)
    )
    repeats = [network.repeats for network in problem.networks for _ in network.group_names]
    units = len(problem.units)
    return replace(
        problem,
        networks=tuple(
            replace(network, repeats=count)
            for network, count in zip(networks, repeats, strict=True)
        ),
        edges=(),
        edge_tokens=None,
        transition_ps=np.zeros((0, units, units), dtype=np.int64),
        units=tuple(replace(unit, max_segments=None) for unit in problem.units),
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
        execution=OneFrame(),
    )


def least_largest_load(problem: Problem, *, time_limit_s: float = 10.0) -> float:
    """ps: on no mapping, at no clocks, has every unit less to do per frame; so no pipeline of the
    problem's groups has a shorter period, periodic or self-timed, in the long run.

    Times are the least over all clocks, contention and limits on mappings are left out. Proved by
    scipy's HiGHS: the least largest load itself, or where time is up what is proved by then.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    groups, units = problem.allowed.shape
    repeats = np.repeat(
        [network.repeats for network in problem.networks],
        [len(network.group_names) for network in problem.networks],
    )
    times = np.empty((groups, units))
    for u, unit in enumerate(problem.units):
        times[:, u] = unit.time_ps.reshape(groups, -1).min(axis=1) * repeats
    scale = times[problem.allowed].max()
    # Variables: group g on unit u at g * units + u; then the largest load.
    rows = np.zeros((groups + units, groups * units + 1))
    for group in range(groups):
        rows[group, group * units : (group + 1) * units] = problem.allowed[group]
    for u in range(units):
        rows[groups + u, u : groups * units : units] = np.where(
            problem.allowed[:, u], times[:, u] / scale, 0.0
        )
        rows[groups + u, -1] = -1.0
    low = np.concatenate((np.ones(groups), np.full(units, -np.inf)))
    high = np.concatenate((np.ones(groups), np.zeros(units)))
    weights = np.zeros(groups * units + 1)
    weights[-1] = 1.0
    found = milp(
        weights,
        constraints=LinearConstraint(rows, low, high),
        integrality=np.append(np.ones(groups * units), 0),
        bounds=Bounds(0, np.append(problem.allowed.reshape(-1).astype(float), np.inf)),
        options={"time_limit": time_limit_s, "mip_rel_gap": 1e-4},
    )
    return float(found.mip_dual_bound * scale)
