"""The members of a front, against which lemmas are checked.

A lemma says that no feasible design point with its choices is better than the members: for every
one there is a member that is at least as good, in the objectives that count. With a tolerance e (in
millionths) the member may be above by a factor of 1 + e. If values are negative (a rate, minimised
as its negative), the design point's rate may be larger by that factor. One objective and its
smallest value: no design point is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from paretosoc.fitness.simulator.types.tables import LANES
from paretosoc.results.errors import ResultError
from paretosoc.results.front.epsilon import least_within
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem

MASK_BITS = 64
"""Most operating points of a domain in a lemma."""


@dataclass(frozen=True)
class LemmaTarget:
    """The claim of a front.

    ``objectives``: positions of the problem's objectives that count. ``members``: their values,
    none if the lemmas say that nothing is feasible. ``prices``: rows of 1 for energy or 0 for the
    makespan, prices of all units, and prices of all networks, that :mod:`fitness.check.bounds` and
    :mod:`fitness.check.trade_off` may use. Any are sound.
    """

    objectives: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    tolerance_ppm: int = 0
    prices: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def closing(self) -> list[tuple[int, ...]]:
        """Return [members]: the smallest bounds that each member closes, by rising values."""
        rows = [tuple(least_within(v, self.tolerance_ppm) for v in row) for row in self.members]
        return sorted(set(rows))

    def require_bounds(self, problem: Problem) -> None:
        """Accept a claim about which lemmas can say something.

        Raises:
            ResultError: on an objective or a limit without bounds, members or prices of another
                width, or more operating points than a set has bits.
        """
        if problem.searched_order is not None or problem.has_rates:
            raise ResultError(
                "lemmas: fixed priorities and no rates of single networks are required"
            )
        if problem.guarantee:
            raise ResultError(
                "lemmas: no bound on guaranteed latencies, which are limited, is known"
            )
        execution = problem.execution
        known = {ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY, ObjectiveKind.TOKEN_RATE}
        known |= {ObjectiveKind.ACCURACY_LOSS, ObjectiveKind.MEMORY}
        if not execution.frames_overlap:
            known |= {ObjectiveKind.ENERGY, ObjectiveKind.TOKEN_ENERGY}
        if execution.period_ps is not None:
            known.add(ObjectiveKind.POWER)
        for column in self.objectives:
            kind = problem.objectives[column].kind
            if kind not in known:
                raise ResultError(f"lemmas: no bound on {kind.value} is known here")
        if any(len(row) != len(self.objectives) for row in self.members):
            raise ResultError(f"lemmas: members need {len(self.objectives)} values each")
        width = 1 + len(problem.units) + len(problem.networks)
        if any(
            len(row) != width or row[0] not in (0, 1) or min(row) < 0 or sum(row[1:]) == 0
            for row in self.prices
        ):
            raise ResultError(
                f"prices: rows of {width} numbers are required, 0 or 1 and those of all units and "
                "networks, none negative and one or more above 0"
            )
        for first in (0, 1):
            rows = sum(row[0] == first for row in self.prices)
            if rows > LANES:
                raise ResultError(
                    f"prices: at most {LANES} rows that begin with {first} are allowed, got {rows}"
                )
        for name in ("power_cap_mw", "energy_budget_fj"):
            limit = getattr(problem, name)
            if limit is not None and execution.frames_overlap:
                raise ResultError(
                    f"{name}: lemmas need frames that do not overlap (no bound on the power of "
                    f"others is known) or no limit, got {limit}"
                )
        for d, domain in enumerate(problem.domains):
            if len(domain.allowed) > MASK_BITS:
                raise ResultError(
                    f"$.domains[{d}]: lemmas need at most {MASK_BITS} operating points, got "
                    f"{len(domain.allowed)}"
                )
