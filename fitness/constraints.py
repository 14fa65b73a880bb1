"""The limits of a problem: what of a design point is limited, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paretosoc.common.units import UW_PER_MW
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.problem import Problem


class ConstraintKind(Enum):
    """What a constraint limits."""

    TRANSITIONS = "transitions"
    SEGMENTS = "segments"
    LOSS = "loss"
    MEMORY = "memory"
    DEADLINE = "deadline"
    RESPONSE_95 = "response-95"
    JITTER = "jitter"
    MISSES = "misses"
    RATE = "rate"
    PERIOD = "period"
    OVERLOAD = "overload"
    POWER = "power"
    ENERGY = "energy"


@dataclass(frozen=True)
class Constraint:
    """A limit on one figure of a design point: the figure must be at most ``limit``.

    Of a rate, which must be at least something, figure and limit are negative.

    ``index``: of the network whose transitions, accuracy, latency, responses or rate are limited,
    of the unit whose segments are, or of the memory pool; of memory without one all pools together.
    """

    kind: ConstraintKind
    name: str
    limit: int
    unit: str
    index: int | None = None

    @property
    def is_least(self) -> bool:
        """Whether a least value is asked for, so that figure and limit are negative."""
        return self.kind is ConstraintKind.RATE


_OF_RESPONSES = (
    (ConstraintKind.RESPONSE_95, "95th percentile", "ps", "deadline_95_ps"),
    (ConstraintKind.JITTER, "jitter", "ps", "max_jitter_ps"),
    (ConstraintKind.MISSES, "misses", "", "max_misses"),
)
"""Kind, words, unit and field of the limits of networks with rates."""


def constraints_of(problem: Problem) -> tuple[Constraint, ...]:
    """The limits of a problem, in the order of ``Outcomes.constraint_values``."""
    limits = [
        Constraint(
            ConstraintKind.TRANSITIONS,
            f"transitions of {network.name}",
            network.max_transitions,
            "",
            n,
        )
        for n, network in enumerate(problem.networks)
        if network.max_transitions is not None
    ]
    limits += [
        Constraint(
            ConstraintKind.SEGMENTS, f"segments on {unit.unit_name}", unit.max_segments, "", u
        )
        for u, unit in enumerate(problem.units)
        if unit.max_segments is not None
    ]
    limits += [
        Constraint(
            ConstraintKind.LOSS, f"accuracy loss of {network.name}", network.max_loss_ppm, "ppm", n
        )
        for n, network in enumerate(problem.networks)
        if network.max_loss_ppm is not None
    ]
    if problem.memory_cap_bytes is not None:
        limits.append(Constraint(ConstraintKind.MEMORY, "memory", problem.memory_cap_bytes, "B"))
    limits += [
        Constraint(ConstraintKind.MEMORY, f"memory of {pool.name}", pool.cap_bytes, "B", p)
        for p, pool in enumerate(problem.memory_pools)
        if pool.cap_bytes is not None
    ]
    what = "response" if problem.has_rates else "latency"
    limits += [
        Constraint(
            ConstraintKind.DEADLINE, f"{what} of {network.name}", network.deadline_ps, "ps", n
        )
        for n, network in enumerate(problem.networks)
        if network.deadline_ps is not None and network.max_misses is None
    ]
    limits += [
        Constraint(kind, f"{words} of {network.name}", limit, unit, n)
        for kind, words, unit, field in _OF_RESPONSES
        for n, network in enumerate(problem.networks)
        if (limit := getattr(network, field)) is not None
    ]
    limits += [
        Constraint(ConstraintKind.RATE, f"rate of {network.name}", -network.min_rate_uhz, "uHz", n)
        for n, network in enumerate(problem.networks)
        if network.min_rate_uhz is not None
    ]
    period = problem.execution.period_ps
    if problem.has_rates and period is not None:
        longest = MAX_PERIODS * period
        limits.append(Constraint(ConstraintKind.OVERLOAD, "time until all recurs", longest, "ps"))
    elif period is not None:
        limits.append(Constraint(ConstraintKind.PERIOD, "makespan within the period", period, "ps"))
    if problem.power_cap_mw is not None:
        cap = problem.power_cap_mw * UW_PER_MW
        limits.append(Constraint(ConstraintKind.POWER, "power", cap, "uW"))
    if problem.energy_budget_fj is not None:
        limits.append(Constraint(ConstraintKind.ENERGY, "energy", problem.energy_budget_fj, "fJ"))
    return tuple(limits)
