"""Compiled lower bounds on a design point's latency and energy, with a dominance check.

Numba keeps its machine code under the state of the kernels in ``fitness`` and of this file. So it
may call those, and nothing of another file.
"""

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import choose, idle_power
from paretosoc.fitness.simulator.types.tables import Tables


@dataclass(frozen=True, eq=False)
class Precedence(Tables):
    """Dependencies of groups and networks, beside the plan. All arrays are int64."""

    edge: IntArray
    """[edges, 3]: source, target and index of the edge, sorted by target."""
    owner: IntArray
    """[groups]: the network."""
    repeats: IntArray
    """[networks]"""
    arrival: IntArray
    """[networks]: ps"""
    order: IntArray
    """[networks]: each after those that it waits for."""
    waits: IntArray
    """[networks, networks]: 1 if the first waits for the second."""
    paced: IntArray
    """[networks]: 1 if repeats have releases of their own."""


@dataclass(frozen=True, eq=False)
class Scratch(Tables):
    """Values of the present row, in ps."""

    end: IntArray
    """[groups]: within its repeat."""
    path: IntArray
    """[networks]: of one repeat."""
    done: IntArray
    """[networks]"""
    load: IntArray
    """[units]"""


@jit
def least_rows(
    plan, precedence, chosen, scratch, rows, possible, makespan, latency, dynamic, busy, idle
):
    """Bound the times and energies of every row [groups + domains] from below.

    The bounds are paths through the networks and loads of the units, in stand-alone times. Arrays
    are those that ``evaluate_rows`` writes.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        for u in range(plan.units):
            scratch.load[u] = 0
        for n in range(plan.networks):
            scratch.path[n] = 0
        energy, e = np.int64(0), np.int64(0)
        for g in range(plan.groups):
            unit = chosen.group[g].unit
            time = chosen.group[g].alone_ps
            start = np.int64(0)
            while e < precedence.edge.shape[0] and precedence.edge[e, 1] == g:
                source, index = precedence.edge[e, 0], precedence.edge[e, 2]
                before = chosen.group[source].unit
                start = max(
                    start,
                    scratch.end[source]
                    + plan.transition_ps[(index * plan.units + before) * plan.units + unit],
                )
                e += 1
            scratch.end[g] = start + time
            n = precedence.owner[g]
            scratch.path[n] = max(scratch.path[n], start + time)
            all_repeats = time * precedence.repeats[n]
            scratch.load[plan.unit_of[unit]] += all_repeats
            energy += all_repeats * chosen.group[g].dynamic_mw
        last, total = np.int64(0), np.int64(0)
        for u in range(plan.units):
            last = max(last, scratch.load[u])
            total += scratch.load[u]
        for k in range(plan.networks):
            n = precedence.order[k]
            start = precedence.arrival[n]
            for other in range(plan.networks):
                if precedence.waits[n, other]:
                    start = max(start, scratch.done[other])
            scratch.done[n] = start + scratch.path[n] * precedence.repeats[n]
            latency[r, n] = scratch.done[n] - precedence.arrival[n]
            if precedence.paced[n]:
                latency[r, n] = scratch.path[n]
            last = max(last, scratch.done[n])
        makespan[r] = last
        dynamic[r] = energy
        busy[r] = total
        idle[r] = idle_power(plan, row, chosen.domain_on)


@jit
def beaten_rows(members, objectives, beaten):
    """Set ``beaten`` [n] if a member is at least as good as the row of ``objectives``.

    ``members`` are [m, objectives], rising in the first objective, ``objectives`` [n, objectives].
    """
    for r in range(objectives.shape[0]):
        beaten[r] = False
        for m in range(members.shape[0]):
            if members[m, 0] > objectives[r, 0]:
                break
            below = True
            for c in range(1, objectives.shape[1]):
                below &= members[m, c] <= objectives[r, c]
            if below:
                beaten[r] = True
                break
