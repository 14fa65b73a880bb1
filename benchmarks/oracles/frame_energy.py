"""The energy of one frame alone, by the plain evaluator."""

from __future__ import annotations

from paretosoc.fitness.check.members.closed_form import idle_mw
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.results.problem.problem import DesignPoint, Problem


def frame_energy_fj(problem: Problem, design: DesignPoint) -> int:
    """Return the energy of one frame with idle power until its end."""
    frame = simulate(problem, design)
    idle_of_unit, idle_of_rest = idle_mw(problem, design)
    return (sum(idle_of_unit) + idle_of_rest) * frame.frame_end_ps[0] + sum(frame.drawn_fj)
