"""Check whether every design point with some choices must break a limit on power or energy.
Compiled.

With T the makespan, P the idle power and E the dynamic energy of a frame, and P' and E' their
smallest values over the open choices:

* power cap, one frame alone: (P T + E) / T > cap if E > (cap - P) T. A point that beats a
  member with the makespan T* has T < T*, so it breaks the cap if E' >= (cap - P') T*. If
  other values count too, the member must be at least as good as their bounds.
* power cap in a period T_p: broken if E' > (cap - P') T_p.
* energy budget: broken if P' T' + E' > budget, with T' the bound of the makespan, or the period.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import (
    NEVER,
)
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def fill_static(plan, rules, d, tree):
    """Fill the smallest static power of domain d over the operating points in its mask."""
    least = NEVER
    for k in range(rules.ladder[d]):
        if (tree.points[d] >> k) & 1:
            least = min(least, plan.static_mw[plan.static_start[d] + k])
    tree.min_static[d] = least


@jit
def min_idle_power(plan, tree, chosen):
    """Return the least idle power: of domains that may not be off, and those that assigned groups
    need.

    Leaves these domains in ``chosen.domain_on``.
    """
    for d in range(plan.domains):
        chosen.domain_on[d] = 1 - plan.may_be_off[d]
    for u in range(plan.units):
        if tree.named_on[u]:
            for c in range(plan.clock.shape[1]):
                if plan.clock[u, c] >= 0:
                    chosen.domain_on[plan.clock[u, c]] = 1
    power = np.int64(plan.board_mw)
    for d in range(plan.domains):
        if chosen.domain_on[d]:
            power += tree.min_static[d]
    for u in range(plan.units):
        if chosen.domain_on[plan.clock[u, 0]]:
            power += tree.min_idle[u]
    return power


@jit
def min_dynamic_energy(plan, tree, chosen, state):
    """Return the least dynamic energy: of ended instances, of the work left of running ones, and
    the smallest of the rest.

    Leaves the first two in ``tree.spent``.

    Energy that shared units have already drawn is accounted apart from the instances running there.
    """
    now = state.run.now
    spent, later = state.run.dynamic_fj, np.int64(0)
    for q in range(plan.queues):
        u = plan.queue_unit[q]
        if u == q and state.unit[u].sharing > 0:
            spent += state.unit[u].shared_mw * (now - state.unit[u].settled)
        if state.unit[q].free == 0:
            place = state.unit[q].place
            i = state.place[place].instance
            g = plan.instance[i].group
            work = state.unit[q].work - state.unit[q].rate * (now - state.unit[q].since)
            time = -((-work) // WORK_PER_PS)
            if state.unit[u].sharing == 0:
                time += now - state.unit[q].started
            spent += chosen.group[g].dynamic_mw * time
            # The loop below adds the smallest energy of all that has not ended, this one included.
            later -= _least_energy(plan, tree, i, tree.units[g])
    tree.spent[0] = spent
    for i in range(plan.instances):
        if state.log[i].end < 0:
            later += _least_energy(plan, tree, i, tree.units[plan.instance[i].group])
    return spent + later


@jit
def _least_energy(plan, tree, i, u):
    """Return the smallest dynamic energy of an instance alone on unit u, or anywhere if u is -1."""
    g = plan.instance[i].group
    at = g * plan.units + u
    energy = tree.min_energy[at] if u >= 0 else tree.min_energy_anywhere[g]
    if plan.grows:
        step = tree.energy_step[at] if u >= 0 else tree.energy_step_anywhere[g]
        energy += plan.instance[i].repeat * step
    return energy


@jit
def breaks_power_limits(rules, idle, energy, makespan, is_complete, closing_ps):
    """Return whether no design point with at least this idle power and dynamic energy is of use.

    Each one breaks a limit, or has a makespan of ``closing_ps`` or more.
    """
    cap, budget, period = rules.power_cap_mw, rules.energy_budget_fj, rules.period_ps
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
