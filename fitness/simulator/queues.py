"""Where groups wait: in the queues of units, alone or as the first of an engine."""

import numpy as np

from paretosoc.fitness.simulator.heap import sift_up
from paretosoc.fitness.simulator.jit import jit, rare
from paretosoc.fitness.simulator.state import CONTINUES


@jit
def enqueue(plan, chosen, state, place, instance, group, slot, ready):
    """Put an instance, all of whose inputs are on their way, into the queue of its unit.

    If its unit is open, it is added to the open places instead.
    """
    if state.logs or state.stops:
        state.place[place].ready = ready
    if state.stops and is_open(plan, chosen, instance, group):
        state.open[state.run.open_count] = place
        state.run.open_count += 1
        return
    queue = plan.unit_of[chosen.group[group].unit]
    if plan.has_engines and plan.has_shared:
        network = plan.job[plan.instance[instance].job].network
        queue = plan.queue_of[network * plan.units + chosen.group[group].unit]
    if plan.has_engines and continues(plan, chosen, instance):
        # Its unit was open as the group before it ended, and the engine goes on.
        ready = CONTINUES
    order = state.slot[slot].frame * plan.instances + instance
    sift_up(state.heap[queue], state.unit[queue].queued, ready, order, place)
    state.unit[queue].queued += 1


@jit
def is_open(plan, chosen, instance, group):
    """Return whether the unit of a group is open.

    If engines may join its network in their middle, any open group of the network counts: the
    extent of engines is then not known.
    """
    if chosen.group[group].unit < 0:
        return True
    if not plan.has_engines:
        return False
    network = plan.job[plan.instance[instance].job].network
    return plan.network[network].joins_engines and chosen.first_open[network] >= 0


@jit
def continues(plan, chosen, instance):
    """Return whether an instance belongs to the engine of the one before it."""
    if instance == 0 or instance == plan.instances:
        return False
    group = plan.instance[instance].group
    unit = chosen.group[group].unit
    return (
        unit >= 0
        and plan.runs_engines[unit] == 1
        and plan.instance[instance].job == plan.instance[instance - 1].job
        and chosen.group[group - 1].unit == unit
    )


@rare
def first_of_engine(plan, chosen, instance):
    """Return the instance with which the engine of an instance begins: itself, if it is in none."""
    while continues(plan, chosen, instance):
        instance -= 1
    return instance


@rare
def enqueue_engine(plan, chosen, state, base, instance, slot):
    """Put the engine of an instance into its queue once all inputs of its groups are coming."""
    first = first_of_engine(plan, chosen, instance)
    ready, i = np.int64(0), first
    while True:
        inside = np.int64(0)
        for k in range(plan.input_start[i], plan.input_start[i + 1]):
            inside += first <= plan.input[k].source and plan.input[k].source < i
        if state.place[base + i].missing != inside:
            return
        ready = max(ready, state.place[base + i].ready)
        i += 1
        if not continues(plan, chosen, i):
            break
    state.place[base + first].missing = -1
    group = plan.instance[first].group
    enqueue(plan, chosen, state, base + first, first, group, slot, ready)


@jit
def joins_engines(plan, chosen, instance):
    """Return whether engines may join the network of an instance in their middle, and are known."""
    network = plan.job[plan.instance[instance].job].network
    return plan.network[network].joins_engines and chosen.first_open[network] < 0
