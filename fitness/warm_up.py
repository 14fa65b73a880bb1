"""Compiles the timeline, so that the first exploration does not have to: run as a module."""

from __future__ import annotations

import numpy as np

from fitness.timeline import make_evaluator, play
from results.problem import (
    DesignPoint,
    Objective,
    ObjectiveKind,
    Problem,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)


def smallest_problem() -> Problem:
    """One group on one unit."""
    one = np.ones((1, 1), dtype=np.int64)
    return Problem(
        networks=(ProblemNetwork(name="network", first_group=0, group_names=("group",)),),
        edges=(),
        transition_ps=np.zeros((0, 1, 1), dtype=np.int64),
        domains=(
            ProblemDomain(
                name="clock",
                frequencies_khz=(1000,),
                voltages_mv=(None,),
                may_be_off=False,
                static_mw=np.zeros(1, dtype=np.int64),
                allowed=np.ones(1, dtype=np.bool_),
            ),
        ),
        units=(
            ProblemUnit(
                name="unit",
                clocks=(0,),
                time_ps=one,
                demand_kbps=one,
                dynamic_mw=one,
                idle_mw=np.ones(1, dtype=np.int64),
                contention=None,
            ),
        ),
        memory_domain=None,
        board_mw=1,
        allowed=np.ones((1, 1), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )


def warm_up() -> None:
    """Compiles, or finds the machine code of an earlier time."""
    problem = smallest_problem()
    row = np.zeros((1, 2), dtype=np.int64)
    make_evaluator(problem)(row)
    play(problem, DesignPoint(row[0, :1], row[0, 1:]))


if __name__ == "__main__":
    warm_up()
