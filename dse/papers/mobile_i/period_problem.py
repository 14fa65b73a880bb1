"""The problem of one period: the same groups and clocks, nothing waits for anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.results.problem.execution import OneFrame
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem, ProblemNetwork


def period_problem(problem: Problem) -> Problem:
    """Its makespan is the period of a retimed pipeline in which every unit runs its groups back to
    back in their order, contention included; so any engine, and the exact search, can look for the
    least period. Rows are those of ``problem``; energy is that of one frame in one period.

    Left out, since retiming keeps or delays it: dependences, transitions, waiting, arrivals. Left
    out, since single groups cannot express it: limits on transitions and segments, deadlines; so
    rows found must be held against ``problem`` itself.
    """
    networks = tuple(
        ProblemNetwork(f"{network.name}: {name}", network.first_group + place, (name,))
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
