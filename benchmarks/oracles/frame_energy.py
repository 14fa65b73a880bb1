"""The energy of one frame alone, by the plain evaluator."""

from __future__ import annotations

from dataclasses import replace

from paretosoc.fitness.check.account import plain_account
from paretosoc.results.problem.execution import OneFrame
from paretosoc.results.problem.problem import DesignPoint, Problem


def frame_energy_fj(problem: Problem, design: DesignPoint) -> int:
    """Return the energy of one frame with idle power until its end."""
    return plain_account(replace(problem, execution=OneFrame()), design).energy_fj
