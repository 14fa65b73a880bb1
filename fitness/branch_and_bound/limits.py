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
from fitness.simulator.layout import GROUP, INSTANCE_WIDTH
from fitness.simulator.state import (
    DYNAMIC,
    DYNAMIC_FJ,
    FREE,
    GROUP_WIDTH,
    LOG_END,
    LOG_WIDTH,
    NEVER,
    NOW,
    PLACE,
    PLACE_INSTANCE,
    PLACE_WIDTH,
    RATE,
    SINCE,
    STARTED,
    UNIT_WIDTH,
    WORK,
)
from results.problem.problem import WORK_PER_PS


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
    now = state.scalar[NOW]
    energy = state.scalar[DYNAMIC_FJ]
    for u in range(plan.units):
        at = u * UNIT_WIDTH
        if state.unit[at + FREE] == 0:
            place = state.unit[at + PLACE]
            i = state.place[place * PLACE_WIDTH + PLACE_INSTANCE]
            g = plan.instance[i * INSTANCE_WIDTH + GROUP]
            work = state.unit[at + WORK] - state.unit[at + RATE] * (now - state.unit[at + SINCE])
            time = now - state.unit[at + STARTED] - ((-work) // WORK_PER_PS)
            energy += chosen.group[g * GROUP_WIDTH + DYNAMIC] * time
            # Taken off again below, where it counts as one that has not ended.
            energy -= b.min_energy[g * plan.units + u]
    for i in range(plan.instances):
        if state.log[i * LOG_WIDTH + LOG_END] < 0:
            g = plan.instance[i * INSTANCE_WIDTH + GROUP]
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
        if space.is_periodic:
            if energy > (cap - idle) * period:
                return True
        elif is_complete:
            if energy > (cap - idle) * makespan:
                return True
        elif closing_ps < NEVER and energy >= (cap - idle) * closing_ps and energy > 0:
            return True
    if budget >= 0:
        time = period if space.is_periodic else makespan
        return idle * time + energy > budget
    return False
