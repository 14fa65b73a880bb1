"""Whether every design point with some choices must break a limit on power or energy; compiled.

With T the makespan, P the idle power and E the dynamic energy of a frame, and P' and E' their
smallest values over the open choices:

* power cap, one frame alone: (P T + E) / T > cap where E > (cap - P) T. A point that beats a
  member with the makespan T* has T < T*, so it breaks the cap where E' >= (cap - P') T*. Where
  other values count too, the member must be nowhere above their bounds;
* power cap in a period T_p: where E' > (cap - P') T_p;
* energy budget: where P' T' + E' > budget, T' the bound of the makespan, or the period.
"""

import numpy as np

from fitness.simulator.jit import jit
from fitness.simulator.state import (
    NEVER,
)
from results.problem.arithmetic import WORK_PER_PS


@jit
def fill_static(plan, space, d, b):
    """The smallest static power of domain d over the operating points in its mask."""
    least = NEVER
    for k in range(space.ladder[d]):
        if (b.points[d] >> k) & 1:
            least = min(least, plan.static_mw[plan.static_start[d] + k])
    b.least_static[d] = least


@jit
def least_idle_power(plan, b, chosen):
    """Power of what is on for sure: what may not be off, and what a named group needs; leaves these
    domains in ``chosen.domain_on``."""
    for d in range(plan.domains):
        chosen.domain_on[d] = 1 - plan.may_be_off[d]
    for u in range(plan.units):
        if b.named_on[u]:
            for c in range(plan.clock.shape[1]):
                if plan.clock[u, c] >= 0:
                    chosen.domain_on[plan.clock[u, c]] = 1
    power = np.int64(plan.board_mw)
    for d in range(plan.domains):
        if chosen.domain_on[d]:
            power += b.least_static[d]
    for u in range(plan.units):
        if chosen.domain_on[plan.clock[u, 0]]:
            power += b.least_idle[u]
    return power


@jit
def least_dynamic_energy(plan, b, chosen, state):
    """What has ended, what runs (at least its work left), and the least of what has not begun."""
    now = state.run.now
    energy = state.run.dynamic_fj
    for u in range(plan.units):
        if state.unit[u].free == 0:
            place = state.unit[u].place
            i = state.place[place].instance
            g = plan.instance[i].group
            work = state.unit[u].work - state.unit[u].rate * (now - state.unit[u].since)
            time = now - state.unit[u].started - ((-work) // WORK_PER_PS)
            energy += chosen.group[g].dynamic_mw * time
            # Taken off again below, where it counts as one that has not ended.
            energy -= b.min_energy[g * plan.units + u]
    for i in range(plan.instances):
        if state.log[i].end < 0:
            g = plan.instance[i].group
            if b.units[g] >= 0:
                energy += b.min_energy[g * plan.units + b.units[g]]
            else:
                energy += b.frugal_anywhere[g]
    return energy


@jit
def breaks_power_limits(space, idle, energy, makespan, is_complete, closing_ps):
    """True where every design point with an idle power of at least ``idle`` and a dynamic energy of
    at least ``energy`` breaks a limit, or has a makespan of ``closing_ps`` or more."""
    cap, budget, period = space.power_cap_mw, space.energy_budget_fj, space.period_ps
    if cap >= 0:
        if period >= 0:
            if energy > (cap - idle) * period:
                return True
        elif is_complete:
            if energy > (cap - idle) * makespan:
                return True
        elif closing_ps < NEVER and energy >= (cap - idle) * closing_ps and energy > 0:
            return True
    if budget >= 0:
        time = period if period >= 0 else makespan
        return idle * time + energy > budget
    return False
