"""A member's energy by unit, and the rest."""

from __future__ import annotations

from paretosoc.results.front.front import Member
from paretosoc.results.problem.problem import Problem

REST = "memory, clocks, board"
"""The energy that no unit takes: memory, power of clocks that are on, and the board."""


def energy_parts_fj(problem: Problem, member: Member) -> dict[str, int]:
    """Return energy by unit, idle and busy in all number formats, in the problem's order, and
    ``REST``. The parts add up to all of it."""
    parts = {
        problem.units[u].unit_name: member.energy_by_unit_fj[u]
        for u, first in enumerate(problem.unit_of)
        if u == first
    }
    return {**parts, REST: member.energy_fj - sum(member.energy_by_unit_fj)}
