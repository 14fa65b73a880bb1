"""Mensa (Boroumand et al., PACT 2021), as HaX-CoNN describes it: greedy, layer by layer."""

from __future__ import annotations

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, costs_of


class Mensa(Baseline):
    """Each group goes to the unit on which it ends soonest, counted from the end of what feeds it:
    its own time and the present hand-over, nothing of what comes later (HaX-CoNN, 5.1, 3).

    Assumed: its layers are our groups; the first group of a network comes from nowhere. It knows
    one network only (Table 1): each network of a workload is placed as if it were alone, and all
    then run together.
    """

    name = "mensa"
    label = "Mensa"

    def rows(self) -> IntArray:
        """[1, width]"""
        costs = costs_of(self._space)
        mapping: list[int] = [0] * self._space.groups
        for groups in costs.order:
            for g in groups:

                def cost(unit: int, g: int = g) -> tuple[int, int]:
                    arrivals = (
                        costs.transition_ps(edge, mapping[source], unit)
                        for source, edge in costs.incoming[g]
                    )
                    return costs.time_ps[g][unit] + max(arrivals, default=0), unit

                mapping[g] = min(costs.time_ps[g], key=cost)
        return self._row(mapping)
