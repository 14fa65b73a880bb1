"""The least weighted sum over all mappings, and weights that make it large. Compiled.

Each weight belongs to a *resource*: energy, classes of demand on units, chains of networks,
segments on units, and figures that are sums over groups, in this order. If number formats are
chosen, a unit is there once in each of them, and its classes and segments are those of the first.
Weights are shares of the room that a corner leaves in each resource.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit

LARGE = 1e300


@jit
def fill_hulls(order, time, energy, kind, allowed, start, end, kept):
    """Fill ``kept`` with the points [groups, points] on the lower hull of each class of each group.

    They are flat positions, those of group g from ``start[g]`` to ``end[g]``. Returns their number.

    ``order`` [groups, points]: a group's points by class, time and energy.
    """
    groups, points = time.shape
    count = 0
    for g in range(groups):
        start[g] = count
        first = count
        for i in range(points if allowed[g] else 0):
            p = order[g, i]
            if i > 0 and kind[g, p] != kind[g, order[g, i - 1]]:
                first = count
            if count > first and energy[g, p] >= energy[g, kept[count - 1] - g * points]:
                continue
            while count > first + 1:
                q = kept[count - 1] - g * points
                r = kept[count - 2] - g * points
                if (energy[g, q] - energy[g, r]) * (time[g, p] - time[g, r]) < (
                    energy[g, p] - energy[g, r]
                ) * (time[g, q] - time[g, r]):
                    break
                count -= 1
            kept[count] = g * points + p
            count += 1
        end[g] = count
    return count


@jit
def least_sum(networks, box, weights, kinds, scratch, used):
    """Return the least weighted sum over all mappings, infinite if no mapping is possible.

    Fills ``used`` [resources] with the resources that the best mapping takes, unweighted.
    """
    units, chains = box.start.shape[1], networks.member.shape[0]
    for j in range(used.shape[0]):
        used[j] = 0.0
    total = 0.0
    for i in range(networks.beside.shape[0]):
        g = networks.beside[i]
        best, unit, at = LARGE, -1, -1
        for u in range(units):
            cost, k = _least_cost(networks, box, g, u, weights, kinds, 0.0)
            if cost < best:
                best, unit, at = cost, u, k
        if unit < 0:
            return LARGE
        total += best
        used[0] += box.energy_fj[at]
        used[1 + box.kind[at]] += box.time_ps[at]
        _add_figures(networks, g, unit, kinds, used)
    for n in range(networks.limit.shape[0]):
        weight = 0.0
        for c in range(chains):
            weight += networks.member[c, n] * weights[1 + kinds + c]
        found = _least_along(networks, box, weights, kinds, n, weight, scratch, used)
        if found >= LARGE:
            return LARGE
        total += found
    for c in range(chains):
        total += weights[1 + kinds + c] * networks.arrival_ps[c]
        used[1 + kinds + c] += networks.arrival_ps[c]
    return total


@jit
def _least_cost(networks, box, g, u, weights, kinds, weight):
    """Return the least weighted cost of a group on a unit, and its candidate."""
    best, at = LARGE, np.int64(-1)
    for k in range(box.start[g, u], box.end[g, u]):
        cost = weights[0] * box.energy_fj[k] + (weights[1 + box.kind[k]] + weight) * box.time_ps[k]
        if cost < best:
            best, at = cost, k
    if at >= 0:
        first = _first_figure(networks, kinds)
        for q in range(networks.figure.shape[0]):
            best += weights[first + q] * networks.figure[q, g, u]
    return best, at


@jit
def _first_figure(networks, kinds):
    """Return the position of the first summed figure among the resources."""
    return 1 + kinds + networks.member.shape[0] + networks.unit_of.shape[0]


@jit
def _add_figures(networks, g, u, kinds, used):
    """Add the contribution of a group on a unit to the figures that are sums."""
    first = _first_figure(networks, kinds)
    for q in range(networks.figure.shape[0]):
        used[first + q] += networks.figure[q, g, u]


@jit
def _least_along(networks, box, weights, kinds, n, weight, scratch, used):
    """Return the length of the shortest way along network n's path, adding its use to ``used``."""
    units, chains = box.start.shape[1], networks.member.shape[0]
    first, last = networks.first[n], networks.first[n + 1] - 1
    limit = networks.limit[n]
    layers = max(limit, 0) + 1
    segments = 1 + kinds + chains
    counted = networks.counts_segments[n]
    for i in range(first, last + 1):
        g = networks.path[i]
        for u in range(units):
            cost, at = _least_cost(networks, box, g, u, weights, kinds, weight)
            scratch.pick[i, u] = at
            own = networks.unit_of[u]
            entry = weights[segments + own] if counted else 0.0
            for layer in range(layers):
                best, unit = LARGE, np.int64(-1)
                if i == first:
                    if layer == 0:
                        best, unit = entry, u
                else:
                    best, unit = scratch.value[i - 1, layer, u], u
                    for v in range(units):
                        if v == u:
                            continue
                        # To another number format is no transition.
                        leaves = networks.unit_of[v] != own
                        below = layer - 1 if leaves and limit >= 0 else layer
                        if below >= 0:
                            step = (
                                scratch.value[i - 1, below, v]
                                + weight * networks.transition_ps[i, v, u]
                                + entry
                            )
                            if step < best:
                                best, unit = step, v
                scratch.value[i, layer, u] = min(best + cost, LARGE)
                scratch.back[i, layer, u] = unit
    best, unit, layer = LARGE, np.int64(-1), np.int64(0)
    for u in range(units):
        for k in range(layers):
            if scratch.value[last, k, u] < best:
                best, unit, layer = scratch.value[last, k, u], u, k
    if best >= LARGE:
        return LARGE
    path = 0.0
    i = last
    while i >= first:
        at = scratch.pick[i, unit]
        path += box.time_ps[at]
        used[0] += box.energy_fj[at]
        used[1 + box.kind[at]] += box.time_ps[at]
        _add_figures(networks, networks.path[i], unit, kinds, used)
        before = scratch.back[i, layer, unit]
        leaves = networks.unit_of[before] != networks.unit_of[unit]
        if i == first or before != unit:
            used[segments + networks.unit_of[unit]] += counted
        if i > first and before != unit:
            path += networks.transition_ps[i, before, unit]
            if limit >= 0 and leaves:
                layer -= 1
        unit = before
        i -= 1
    for c in range(chains):
        used[1 + kinds + c] += networks.member[c, n] * path
    return best


@jit
def improve(networks, box, room, makespan, kinds, shares, rounds, rate, scratch):
    """Raise the least sum over all mappings by multiplicative updates of ``shares`` [resources].

    The sum is relative to ``room`` [resources], the room of each resource (0: not limited). The
    best shares are in ``shares`` at the end. Returns the ratio: above 1, no mapping has this room.

    ``makespan``: the unit in which the room of units is counted.
    """
    count = shares.shape[0]
    # Less than the ratio of any figure, which is 0 if its least sum is 0.
    best = -1.0
    for j in range(count):
        scratch.log[j] = np.log(max(shares[j], 1e-6)) if room[j] > 0.0 else -LARGE
        scratch.mean[j] = 0.0
        scratch.best[j] = shares[j]
    for turn in range(rounds):
        top = -LARGE
        for j in range(count):
            top = max(top, scratch.log[j])
        norm = 0.0
        for j in range(count):
            shares[j] = np.exp(scratch.log[j] - top) if room[j] > 0.0 else 0.0
            norm += shares[j]
        for j in range(count):
            shares[j] /= norm
            scratch.mean[j] += shares[j]
        if turn % 16 == 15 and box.rate.shape[0] > 1:
            # In a game against configurations the mean of all rounds converges, not the last round.
            for j in range(count):
                scratch.trial[j] = scratch.mean[j] / (turn + 1)
            ratio = _ratio(networks, box, room, makespan, kinds, scratch.trial, scratch)
            if ratio > best:
                best = ratio
                for j in range(count):
                    scratch.best[j] = scratch.trial[j]
        ratio = _ratio(networks, box, room, makespan, kinds, shares, scratch)
        if ratio >= LARGE:
            return LARGE
        if ratio > best:
            best = ratio
            for j in range(count):
                scratch.best[j] = shares[j]
        # Slope of log D - log R: the sum of the best mapping less the allowance of the worst
        # configuration.
        steepest = 1e-12
        # A figure's least sum may be 0.
        least = max(scratch.sums[0], 1e-200)
        for j in range(count):
            if room[j] > 0.0:
                scratch.trial[j] = (
                    scratch.used[j] / room[j] / least - scratch.given[j] / scratch.sums[1]
                )
                steepest = max(steepest, abs(scratch.trial[j]))
        step = rate * 0.01 ** (turn / rounds) / steepest
        for j in range(count):
            if room[j] > 0.0:
                scratch.log[j] += step * scratch.trial[j]
    for j in range(count):
        shares[j] = scratch.best[j]
    return best


@jit
def _ratio(networks, box, room, makespan, kinds, shares, scratch):
    """Return the least sum over mappings by the largest right side, and fill the slopes of both,
    ``used`` and ``given``, and ``sums``."""
    count = shares.shape[0]
    right = 0.0
    for j in range(count):
        scratch.weight[j] = shares[j] / room[j] if room[j] > 0.0 else 0.0
        scratch.given[j] = 0.0
        if room[j] > 0.0 and (j == 0 or j > kinds):
            scratch.given[j] = 1.0
            right += shares[j]
    worst, at = -LARGE, 0
    for c in range(box.rate.shape[0]):
        value = -scratch.weight[0] * makespan * box.lost_mw[c]
        for u in range(box.rate.shape[1]):
            value += box.rate[c, u] * shares[1 + box.running[c, u]]
        if value > worst:
            worst, at = value, c
    right += worst
    for u in range(box.rate.shape[1]):
        scratch.given[1 + box.running[at, u]] += box.rate[at, u]
    if room[0] > 0.0:
        scratch.given[0] -= makespan / room[0] * box.lost_mw[at]
    left = least_sum(networks, box, scratch.weight, kinds, scratch, scratch.used)
    if left >= LARGE:
        return LARGE
    scratch.sums[0], scratch.sums[1] = left, right
    return left / right if right > 0.0 else LARGE
