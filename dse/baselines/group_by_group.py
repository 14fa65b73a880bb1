"""Methods that place group by group, as HaX-CoNN describes them: Herald (Kwon et al., HPCA 2021)
balances load, Mensa (Boroumand et al., PACT 2021) is greedy, and H2H (Zhang et al., DAC 2022) takes
Herald's mapping and reduces its hand-overs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, at_fastest_clocks, costs_of
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.execution import rules_of
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.problem.problem import Problem


class Herald(Baseline):
    """Each group goes to the unit whose load is least with it (HaX-CoNN, 2: Herald optimises the
    utilisation of the accelerators; Table 1: no transition cost, no contention).

    Assumed: the networks take turns, the i-th groups of all before any next one. Load is the sum of
    stand-alone times, a network that repeats counting as often. Among equals the first unit is
    taken.
    """

    name = "herald"
    label = "Herald"

    def rows(self) -> IntArray:
        """Return [1, width]."""
        return self._row(balanced_mapping(self._space))


def balanced_mapping(space: DesignSpace) -> list[int]:
    """Return [groups]: Herald's units, from which H2H starts."""
    costs = costs_of(space)
    networks = space.problem.networks
    load = [0] * len(space.problem.units)
    mapping = [0] * space.groups
    for turn in zip_longest(*(network.groups for network in networks)):
        for network, g in zip(networks, turn, strict=True):
            if g is None:
                continue
            loads = {u: load[u] + network.repeats * t for u, t in costs.time_ps[g].items()}
            mapping[g] = min(loads, key=loads.__getitem__)
            load[mapping[g]] = loads[mapping[g]]
    return mapping


class Mensa(Baseline):
    """Each group goes to the unit on which it ends soonest, counted from the end of the groups that
    feed it: its own time and the present hand-over, nothing later (HaX-CoNN, 5.1, 3).

    Assumed: its layers are our groups. The first group of a network has no hand-over. It knows one
    network only (Table 1): each network of a workload is placed as if it were alone, and all then
    run together.
    """

    name = "mensa"
    label = "Mensa"

    def rows(self) -> IntArray:
        """Return [1, width]."""
        costs = costs_of(self._space)
        mapping: list[int] = [0] * self._space.groups
        # Groups that feed another come before it.
        for g in range(self._space.groups):

            def cost(unit: int, g: int = g) -> tuple[int, int]:
                arrivals = (
                    costs.transition_ps(edge, mapping[source], unit)
                    for source, edge in costs.incoming[g]
                )
                return costs.time_ps[g][unit] + max(arrivals, default=0), unit

            mapping[g] = min(costs.time_ps[g], key=cost)
        return self._row(mapping)


MAX_SIMULATED_GROUPS = 2_000_000
"""Moves are tried until this many groups were simulated: under a second, also for large
workloads."""


class H2h(Baseline):
    """Starting with Herald's mapping, the move that shortens the frame most is made, until none
    does: a group joins the unit of one that it feeds or that feeds it (HaX-CoNN, 2: H2H improves
    Herald by the transition costs; Table 1: no contention).

    Assumed: it judges by the length of the frame (of the pipeline's window, if throughput is an
    objective) on our timeline with hand-overs and without contention. ``MAX_SIMULATED_GROUPS`` ends
    it.
    """

    name = "h2h"
    label = "H2H"

    def rows(self) -> IntArray:
        """Return [1, width]."""
        space = self._space
        cost = cost_without_contention(space)
        mapping = np.array(balanced_mapping(space), dtype=np.int64)
        least = int(cost(mapping[None])[0])
        left = MAX_SIMULATED_GROUPS // space.groups
        while left > 0:
            moves = data_local_moves(space, mapping)
            if len(moves) == 0:
                break
            costs = cost(moves)
            left -= len(moves)
            best = int(costs.argmin())
            if costs[best] >= least:
                break
            mapping, least = moves[best], int(costs[best])
        return self._row(mapping)


def cost_without_contention(space: DesignSpace) -> Callable[[IntArray], IntArray]:
    """Return a function from mappings [n, groups] to the time that H2H minimises, [n] ps."""
    problem = without_contention(space.problem)
    if problem.execution.frames_overlap:
        account = rules_of(problem).make_account(problem, 1)
        return lambda mappings: account(at_fastest_clocks(space, mappings), None).frame_period_ps
    simulate = make_evaluator(problem)
    return lambda mappings: simulate(at_fastest_clocks(space, mappings)).makespan_ps


def without_contention(problem: Problem) -> Problem:
    """Return the problem without contention."""
    return replace(problem, units=tuple(replace(unit, contention=None) for unit in problem.units))


def data_local_moves(space: DesignSpace, mapping: IntArray) -> IntArray:
    """Return [n, groups]: every mapping that differs in one group, now on the unit of a
    neighbour."""
    moves = {
        (g, int(mapping[other]))
        for edge in space.problem.edges
        for g, other in (edge, edge[::-1])
        if mapping[g] != mapping[other] and space.problem.allowed[g, mapping[other]]
    }
    rows = np.repeat(mapping[None], len(moves), axis=0)
    for row, (g, unit) in zip(rows, sorted(moves), strict=True):
        row[g] = unit
    return rows
