"""Terms over the variables of the equations that many parts share.

Each is made once: to make it takes Python longer than most answers take Z3.
"""

from __future__ import annotations

from functools import cache

from paretosoc.dse.certificate.formulation.equations import Equations, Term
from paretosoc.results.front.certificate import NOT_NAMED

Prices = tuple[int, ...]
"""Of all units, then of all networks."""


class Terms:
    """Terms of one problem.

    ``chains``: networks whose layers always follow one another.
    """

    def __init__(self, equations: Equations) -> None:
        import z3

        self._z3 = z3
        self._equations = equations
        self._unit_of = equations.problem.unit_of
        self.chains = equations.frame.chains()
        self.starts_before, self.known_time = cache(self._starts_before), cache(self._known_time)
        self.time, self.load, self.priced = (
            cache(self._time),
            cache(self._load),
            cache(self._priced),
        )
        self._load_of_one = cache(self._own_load)

    def prices(self, row: Prices, g: int) -> tuple[dict[int, int], int]:
        """Return the prices of the units that a group may have, and of its path. Of several formats
        of a unit the dearest has the unit's price."""
        problem, by_unit = self._equations.problem, dict[int, int]()
        for unit, price in zip(self._unit_of, row, strict=False):
            by_unit[unit] = max(price, by_unit.get(unit, 0))
        n = problem.network_of[g]
        return by_unit, row[len(problem.units) + n] if n in self.chains else 0

    def _starts_before(self, i: int, starting: tuple[int, ...]) -> list[Term]:
        """Return the conditions that a layer starts before another one ends, of each that may."""
        return [self._equations.st[j] < self._equations.et[i] for j in starting]

    def _time(self, groups: tuple[int, ...]) -> Term:
        """Return the sum of the times of groups."""
        if not groups:
            return self._z3.IntVal(0)
        return self._equations.alone[groups[0]] + self.time(groups[1:])

    def _load(self, groups: tuple[int, ...], u: int) -> Term:
        """Return the sum of the times of groups that are on a unit."""
        if not groups:
            return self._z3.IntVal(0)
        return self._load_of_one(groups[0], u) + self.load(groups[1:], u)

    def _own_load(self, g: int, u: int) -> Term:
        equations = self._equations
        return self._z3.If(equations.on_unit(g, u), equations.alone[g], 0)

    def _priced(self, row: Prices, g: int, least: int) -> Term:
        """Return the condition that the priced times of a group add up to ``least`` or more."""
        by_unit, path = self.prices(row, g)
        units = {self._unit_of[u] for u in self._equations.S[g]}
        loads = [by_unit[u] * self._load_of_one(g, u) for u in sorted(units) if by_unit[u]]
        return self._z3.Sum([path * self._equations.alone[g], *loads]) >= least

    def _known_time(self, g: int, u: int, time: int, is_certain: bool) -> Term:
        """Return the condition on the time of a group if it is on a unit, ``NOT_NAMED``: on any."""
        alone = self._equations.alone[g]
        here = alone == time if is_certain else alone >= time
        return here if u == NOT_NAMED else self._z3.Implies(self._equations.S[g][u], here)
