"""Whether every design point with some choices must break a limit on power or energy; compiled.

With T the makespan, P the idle power and E the dynamic energy of a frame, and P' and E' their
smallest values over the open choices:

* power cap, one frame alone: (P T + E) / T > cap where E > (cap - P) T. A point that beats the best
  T* has T < T*, so it breaks the cap where E' >= (cap - P') T*;
* power cap in a period T_p: where E' > (cap - P') T_p;
* energy budget: where P' T' + E' > budget, T' the bound of the makespan, or the period.
"""

import numpy as np

from fitness.jit import jit
from fitness.plan import GROUP, INSTANCE_WIDTH
from fitness.timeline_state import (
    DYNAMIC,
    DYNAMIC_FJ,
    FRAMES_LEFT,
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
from results.problem import WORK_PER_PS


@jit
def fill_least_power(plan, space, points, least_energy, least_idle, least_static):
    """Smallest dynamic energy of a group alone [groups x units], idle power [units] and static
    power [domains] over the operating points in the masks ``points``."""
    for at in range(plan.groups * plan.units):
        least_energy[at] = NEVER
    for d in range(plan.domains):
        least_static[d] = NEVER
        for k in range(space.ladder[d]):
            if (points[d] >> k) & 1:
                least_static[d] = min(least_static[d], plan.static_mw[plan.static_start[d] + k])
    for u in range(plan.units):
        least_idle[u] = NEVER
        size = np.int64(1)
        for c in range(plan.clock.shape[1]):
            if plan.clock[u, c] >= 0:
                size *= space.ladder[plan.clock[u, c]]
        for index in range(size):
            inside = True
            for c in range(plan.clock.shape[1]):
                d = plan.clock[u, c]
                if d >= 0:
                    point = (index // plan.clock_stride[u, c]) % space.ladder[d]
                    inside &= ((points[d] >> point) & 1) == 1
            if inside:
                least_idle[u] = min(least_idle[u], plan.idle_mw[plan.idle_start[u] + index])
                row = plan.table_start[u] + index * plan.groups
                for g in range(plan.groups):
                    at = g * plan.units + u
                    if space.allowed[at]:
                        energy = plan.time_ps[row + g] * plan.dynamic_mw[row + g]
                        least_energy[at] = min(least_energy[at], energy)


@jit
def _least_idle_power(plan, space, units, chosen, least_idle, least_static):
    """Power of what is on for sure: what may not be off, and what a named group needs."""
    for d in range(plan.domains):
        chosen.domain_on[d] = 1 - plan.may_be_off[d]
    for g in range(plan.groups):
        if units[g] >= 0:
            for c in range(plan.clock.shape[1]):
                if plan.clock[units[g], c] >= 0:
                    chosen.domain_on[plan.clock[units[g], c]] = 1
    power = np.int64(plan.board_mw)
    for d in range(plan.domains):
        if chosen.domain_on[d]:
            power += least_static[d]
    for u in range(plan.units):
        if chosen.domain_on[plan.clock[u, 0]]:
            power += least_idle[u]
    return power


@jit
def _least_dynamic_energy(plan, units, chosen, state, least_energy):
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
            energy -= least_energy[g * plan.units + u]
    for i in range(plan.instances):
        if state.log[i * LOG_WIDTH + LOG_END] < 0:
            g = plan.instance[i * INSTANCE_WIDTH + GROUP]
            if units[g] >= 0:
                energy += least_energy[g * plan.units + units[g]]
            else:
                least = NEVER
                for u in range(plan.units):
                    least = min(least, least_energy[g * plan.units + u])
                energy += least
    return energy


@jit
def breaks_power_limits(
    plan,
    space,
    units,
    chosen,
    state,
    bound,
    best,
    is_makespan,
    least_energy,
    least_idle,
    least_static,
):
    """True where no feasible design point with these choices is better than ``best``."""
    idle = _least_idle_power(plan, space, units, chosen, least_idle, least_static)
    energy = _least_dynamic_energy(plan, units, chosen, state, least_energy)
    complete = state.scalar[FRAMES_LEFT] == 0
    cap, budget, period = space.power_cap_mw, space.energy_budget_fj, space.period_ps
    if cap >= 0:
        if space.is_periodic:
            if energy > (cap - idle) * period:
                return True
        elif complete:
            if energy > (cap - idle) * bound:
                return True
        elif is_makespan and best < NEVER and energy >= (cap - idle) * best and energy > 0:
            return True
    if budget >= 0:
        time = period if space.is_periodic else bound
        return idle * time + energy > budget
    return False
