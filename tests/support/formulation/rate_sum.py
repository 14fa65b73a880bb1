"""Eq. 10 of HaX-CoNN, the sum of 1 / latency, for a solver of linear integer arithmetic.

floor(10^18 / T) is convex in T, so between two latencies its secant lies on or above it, and beyond
the last one its value there does. With these as bounds of the rates, what the solver cannot reach
cannot be reached. Where a model stays below its own secants, the interval that it lies in is split
at its latency. Intervals only become shorter, and at their ends the bound is the rate itself.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from paretosoc.common.units import UHZ_PS

Term = Any
"""A Z3 expression; z3 has no types."""


def rate_uhz(latency_ps: int) -> int:
    """Inferences per second x 10^6, rounded down."""
    return UHZ_PS // latency_ps


class RateBound:
    """Upper bound of one network's rate: constraints over its latency, refined as models come.

    Args:
        latency: the network's latency in ps, an integer term.
        rate: its rate in uHz, an integer term, maximised.
        least_ps: no solution has a smaller latency; at least 1.
    """

    def __init__(self, latency: Term, rate: Term, least_ps: int) -> None:
        self._latency = latency
        self._rate = rate
        self._known = [least_ps]

    def constraints(self) -> list[Term]:
        """What holds from the start."""
        (least,) = self._known
        return [self._latency >= least, self._rate <= rate_uhz(least)]

    def refine(self, latency_ps: int) -> list[Term]:
        """Constraints that bound the rate at this latency by itself; none where it is known."""
        import z3

        at = bisect_right(self._known, latency_ps)
        before = self._known[at - 1]
        if before == latency_ps:
            return []
        added = [z3.Implies(self._latency >= latency_ps, self._rate <= rate_uhz(latency_ps))]
        added.append(self._secant(before, latency_ps))
        if at < len(self._known):
            added.append(self._secant(latency_ps, self._known[at]))
        self._known.insert(at, latency_ps)
        return added

    def _secant(self, low: int, high: int) -> Term:
        """rate (high - low) <= f(low) (high - T) + f(high) (T - low), inside [low, high].

        f rounds down, so the secant of the rounded values could lie below a rounded value between
        them by less than 1 uHz; f + 1 at both ends does not.
        """
        import z3

        f_low, f_high = rate_uhz(low) + 1, rate_uhz(high) + 1
        inside = z3.And(self._latency >= low, self._latency <= high)
        line = f_low * (high - self._latency) + f_high * (self._latency - low)
        return z3.Implies(inside, self._rate * (high - low) <= line)
