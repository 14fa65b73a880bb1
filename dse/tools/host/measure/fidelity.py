"""A sample of design points run for real: how far the model is from the machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.group_by_group import without_contention
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.measure.fidelity_figures import Fidelity, FidelityPoint, Prediction
from paretosoc.dse.tools.host.measure.memory_rates import together_gbps
from paretosoc.dse.tools.host.measure.running import DesignRuns, predict
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import FASTEST, choose_member, is_fastest_certified

PASSES = 3
"""Runs of every design point, with all others in between, so that drift affects all alike."""


def sample_rows(front: Front, samples: int, seed: int) -> IntArray:
    """Return [at most samples + 1, width]: the fastest member, then random rows that differ."""
    space = DesignSpace(front.problem)
    best = front.members[choose_member(front, FASTEST)].design.row
    drawn = space.random(np.random.default_rng(seed), 50 * samples)
    rows = np.concatenate((best[None, :], drawn))
    return rows[unique_rows(rows)][: samples + 1]


def measure_fidelity(
    machine: HostMachine,
    front: Front,
    *,
    samples: int,
    frames: int,
    seed: int,
    dispatch: Dispatch = Dispatch.PLANNED,
    say: Callable[[str], None] = lambda text: None,
) -> Fidelity:
    """Run the fastest member and random design points, and predict each with and without
    contention.

    Args:
        front: from an exploration of this machine.
        frames: of each, in each of the passes.

    Raises:
        ResultError: if the front is empty, its networks have rates, or the machine fails.
    """
    problem = front.problem
    if problem.has_rates:
        raise ResultError(
            "frames one at a time and pipelined are compared, and networks with rates have none; "
            "'dse run' compares the responses of a member"
        )
    plain = without_contention(problem)
    designs = [problem.design_of(row) for row in sample_rows(front, samples, seed)]
    runs = [DesignRuns(problem, design, dispatch=dispatch) for design in designs]
    units = len(problem.units)
    together = [together_gbps(machine, units)]
    for number in range(PASSES):
        say(f"pass {number + 1} of {PASSES} over {len(designs)} design points")
        for entry in runs:
            entry.run(machine, frames)
        together.append(together_gbps(machine, units))
    points = []
    for k, (design, entry) in enumerate(zip(designs, runs, strict=True)):
        predicted, without, ran = predict(problem, design), predict(plain, design), entry.result()
        measured = ran.figures
        makespans = predicted.makespan_ms, without.makespan_ms, measured.makespan_ms
        rates = predicted.frames_per_s, without.frames_per_s, measured.frames_per_s
        points.append(
            FidelityPoint(
                name="fastest" if k == 0 else f"random {k}",
                units=tuple(int(unit) for unit in design.units),
                makespan_ms=Prediction(*makespans, ran.makespan.spread),
                frames_per_s=Prediction(*rates, ran.period.spread),
                frames=ran.makespan.samples,
                lost_share=ran.lost_share,
            )
        )
    return Fidelity(
        points=tuple(points),
        best=0,
        is_certified=is_fastest_certified(front),
        unit_names=tuple(unit.name for unit in problem.units),
        together_gbps=tuple(together),
    )
