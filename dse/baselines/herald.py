"""Herald (Kwon et al., HPCA 2021), as HaX-CoNN describes it: balanced load, hand-overs are free."""

from __future__ import annotations

from itertools import zip_longest

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, costs_of
from paretosoc.dse.space.design_space import DesignSpace


class Herald(Baseline):
    """Each group goes to the unit whose load is least with it (HaX-CoNN, 2: Herald optimises the
    utilisation of the accelerators; Table 1: no transition cost, no contention).

    Assumed: the networks take turns, the i-th groups of all before any next one; load is the sum of
    stand-alone times, a network that repeats counting as often; among equals the first unit.
    """

    name = "herald"
    label = "Herald"

    def rows(self) -> IntArray:
        """[1, width]"""
        return self._row(balanced_mapping(self._space))


def balanced_mapping(space: DesignSpace) -> list[int]:
    """[groups]: Herald's units; H2H starts from them."""
    costs = costs_of(space)
    networks = space.problem.networks
    load = [0] * len(space.problem.units)
    mapping = [0] * space.groups
    for turn in zip_longest(*costs.order):
        for network, g in zip(networks, turn, strict=True):
            if g is None:
                continue
            loads = {u: load[u] + network.repeats * t for u, t in costs.time_ps[g].items()}
            mapping[g] = min(loads, key=loads.__getitem__)
            load[mapping[g]] = loads[mapping[g]]
    return mapping
