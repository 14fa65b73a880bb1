"""Networks that run freely and are chains, fast; compiled.

The rules are those of :mod:`fitness.plain_free_run`, and :mod:`fitness.free_run_play` gives the
same for graphs too. What makes this one faster:

* a frame of a chain has one group at a time that runs or waits, so there are as many *tokens* as
  frames in flight, and no bookkeeping of what has been delivered;
* each unit has one short queue, in order, of all that will run there next, transitions included:
  nobody looks at an instant at which something only joins a queue;
* quotients come from floating point and are then corrected by their exact remainder;
* what a group's own figures give is worked out once for a design point, not at each start.

No other kernel takes anything from here, so this file is not among those that all machine code
depends on (:mod:`fitness.jit`): numba looks at it by itself. That is why its tables are in it too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fitness.design_kernel import choose, idle_power
from fitness.jit import jit
from fitness.plan import CONTENTION_WIDTH, PEAK, IntArray, Plan
from fitness.plan import MINOR_DEN as PLAN_MINOR_DEN
from fitness.plan import MINOR_NUM as PLAN_MINOR_NUM
from fitness.rate_kernel import heavy_slope, lost_products, rate_after
from fitness.timeline_state import ALONE, DEMAND, DYNAMIC, GROUP_WIDTH, HIGH_FJ, NEVER, UNIT
from results.problem import WORK_PER_PS, Problem

FloatArray = NDArray[np.float64]

# Columns of FreeChains.unit.
BUSY, WHEN, TOKEN, GROUP, STARTED, WORK, RATE, SINCE, OWN = range(9)
HEAVY_NUM, HEAVY_DEN, HEAVY_OFFSET, HEAVY_CAP, QUEUE_HEAD, QUEUED = range(9, 15)
# Columns of FreeChains.minor.
MINOR_NUM, MINOR_DEN, MINOR_PEAK = range(3)
# Columns of FreeChains.queue.
QUEUE_READY, QUEUE_PRIORITY, QUEUE_TOKEN = range(3)
# Columns of FreeChains.token.
TOKEN_NETWORK, TOKEN_GROUP, TOKEN_FRAME, TOKEN_REPEATS = range(4)
# Columns of FreeChains.network; as many snapshots of ENDED follow as there are networks.
FIRST, LAST, REPEATS, ENDED, FOURTH_PS, TWELFTH_PS, FOURTH_FJ, FOURTH_HIGH, SNAPSHOT = range(9)
# Columns of FreeChains.cost.
COST_UNIT, COST_WORK, COST_OWN, COST_DYNAMIC, COST_NUM, COST_DEN, COST_OFFSET, COST_CAP = range(8)

UNIT_WIDTH, MINOR_WIDTH, QUEUE_WIDTH, TOKEN_WIDTH, COST_WIDTH = 16, 4, 4, 4, 8
LARGEST_LOSS = float(1 << 17)
"""Beyond every limit, and small enough for floating point to be off by far less than 1."""


class FreeChains(NamedTuple):
    """What the kernel works on; int64 but for the inverses.

    A *token* is one of the frames in flight of one network: at each instant it has one group, which
    runs, waits, or is in transition. When its frame ends, it begins the network's next one.
    """

    in_flight: int
    frames: int
    count_from: int
    queue_size: int
    """Entries of a queue: a power of two, at least as many as there are tokens."""
    unit: IntArray
    """[units, UNIT_WIDTH]: 1 where a group runs; when it ends, else when the first in the queue is
    ready, or NEVER; token, group, start; work left at SINCE, rate, SINCE; its demand, else 0; slope
    in the others' demand, as in :mod:`fitness.rate_kernel`; first entry and length of the queue."""
    minor: IntArray
    """[units, MINOR_WIDTH]: the minor loss at the chosen clock of the memory."""
    minor_inverse: FloatArray
    """[units]: 1 / denominator."""
    heavy_inverse: FloatArray
    """[units]: the same of the group that runs."""
    queue: IntArray
    """[units, queue_size, QUEUE_WIDTH]: a ring for each unit, by (ready time, priority), what is
    still in transition to the unit too; priority = frame x networks + network."""
    token: IntArray
    """[tokens, TOKEN_WIDTH]: network, group, frame (from 0), repeats left."""
    network: IntArray
    """[networks, SNAPSHOT + networks]: first group, last group, repeats; frames ended; when frames
    4 and 12 did; dynamic energy by the end of frame 4; frames that every network had ended then."""
    edge: IntArray
    """[groups]: where in ``Plan.transition_ps`` the edge to a group from the one before begins."""
    cost: IntArray
    """[groups, COST_WIDTH]: what the design point chooses: unit, work, demand, dynamic power,
    slope."""
    cost_inverse: FloatArray
    """[groups]"""


def make_free_chains(problem: Problem, plan: Plan, *, frames: int, count_from: int) -> FreeChains:
    """Buffers for one design point after the other."""
    networks, in_flight = len(problem.networks), problem.frames_in_flight
    tokens = networks * in_flight
    queue_size = 1 << (tokens - 1).bit_length()
    network = np.zeros((networks, SNAPSHOT + networks), dtype=np.int64)
    for n, entry in enumerate(problem.networks):
        network[n, :3] = entry.groups.start, entry.groups.stop - 1, entry.repeats
    token = np.zeros((tokens, TOKEN_WIDTH), dtype=np.int64)
    token[:, TOKEN_NETWORK] = np.arange(tokens) // in_flight
    edge = np.zeros(plan.groups, dtype=np.int64)
    for e, (_, target) in enumerate(problem.edges):
        edge[target] = e * plan.units * plan.units
    return FreeChains(
        in_flight=in_flight,
        frames=frames,
        count_from=count_from,
        queue_size=queue_size,
        unit=_zeros(plan.units * UNIT_WIDTH),
        minor=_zeros(plan.units * MINOR_WIDTH),
        minor_inverse=np.zeros(plan.units, dtype=np.float64),
        heavy_inverse=np.zeros(plan.units, dtype=np.float64),
        queue=_zeros(plan.units * queue_size * QUEUE_WIDTH),
        token=token.reshape(-1),
        network=network.reshape(-1),
        edge=edge,
        cost=_zeros(plan.groups * COST_WIDTH),
        cost_inverse=np.zeros(plan.groups, dtype=np.float64),
    )


def _zeros(count: int) -> IntArray:
    return np.zeros(count, dtype=np.int64)


@jit
def _ceil_near(numerator, denominator, quotient):
    """The quotient rounded up, from one in floating point that is off by less than 1."""
    down = np.int64(quotient)
    rest = numerator - down * denominator
    return down + np.int64(rest > 0) + np.int64(rest > denominator)


@jit
def _look_up(plan, chosen, chains):
    """What the groups' own figures give at the chosen clocks."""
    for u in range(plan.units):
        at = u * CONTENTION_WIDTH
        # Where there is no contention all parameters are 0: no loss, of a denominator that divides.
        den = max(chosen.contention[at + PLAN_MINOR_DEN], 1)
        chains.minor[u * MINOR_WIDTH + MINOR_NUM] = chosen.contention[at + PLAN_MINOR_NUM]
        chains.minor[u * MINOR_WIDTH + MINOR_DEN] = den
        chains.minor[u * MINOR_WIDTH + MINOR_PEAK] = chosen.contention[at + PEAK]
        chains.minor_inverse[u] = 1.0 / den
    for g in range(plan.groups):
        u = chosen.group[g * GROUP_WIDTH + UNIT]
        own = chosen.group[g * GROUP_WIDTH + DEMAND]
        cost, at = g * COST_WIDTH, u * CONTENTION_WIDTH
        num, den, offset, cap = heavy_slope(chosen.contention, at, own)
        den = max(den, 1)
        chains.cost[cost + COST_UNIT] = u
        chains.cost[cost + COST_WORK] = chosen.group[g * GROUP_WIDTH + ALONE] * WORK_PER_PS
        chains.cost[cost + COST_OWN] = own
        chains.cost[cost + COST_DYNAMIC] = chosen.group[g * GROUP_WIDTH + DYNAMIC]
        chains.cost[cost + COST_NUM] = num
        chains.cost[cost + COST_DEN] = den
        chains.cost[cost + COST_OFFSET] = offset
        chains.cost[cost + COST_CAP] = cap
        chains.cost_inverse[g] = 1.0 / den


@jit
def _enqueue(plan, chains, t, group, ready):
    """The token's next group waits for its unit, from ``ready`` on."""
    token = np.uint32(t * TOKEN_WIDTH)
    chains.token[token + TOKEN_GROUP] = group
    network = chains.token[token + TOKEN_NETWORK]
    priority = chains.token[token + TOKEN_FRAME] * plan.networks + network
    u = np.uint32(chains.cost[np.uint32(group * COST_WIDTH + COST_UNIT)])
    unit = np.uint32(u * UNIT_WIDTH)
    head, at = chains.unit[unit + QUEUE_HEAD], chains.unit[unit + QUEUED]
    chains.unit[unit + QUEUED] = at + 1
    base, mask = np.int64(u) * chains.queue_size, chains.queue_size - 1
    entry = np.uint32((base + ((head + at) & mask)) * QUEUE_WIDTH)
    while at > 0:
        before = np.uint32((base + ((head + at - 1) & mask)) * QUEUE_WIDTH)
        other = chains.queue[before + QUEUE_READY]
        if other < ready or (other == ready and chains.queue[before + QUEUE_PRIORITY] < priority):
            break
        chains.queue[entry + QUEUE_READY] = other
        chains.queue[entry + QUEUE_PRIORITY] = chains.queue[before + QUEUE_PRIORITY]
        chains.queue[entry + QUEUE_TOKEN] = chains.queue[before + QUEUE_TOKEN]
        entry = before
        at -= 1
    chains.queue[entry + QUEUE_READY] = ready
    chains.queue[entry + QUEUE_PRIORITY] = priority
    chains.queue[entry + QUEUE_TOKEN] = t


@jit
def _begin(plan, chains):
    """The instant 0, with the first frames released."""
    for u in range(plan.units):
        unit = u * UNIT_WIDTH
        chains.unit[unit + BUSY] = 0
        chains.unit[unit + OWN] = 0
        chains.unit[unit + WHEN] = NEVER
        chains.unit[unit + QUEUE_HEAD] = 0
        chains.unit[unit + QUEUED] = 0
    width = SNAPSHOT + plan.networks
    for n in range(plan.networks):
        chains.network[n * width + ENDED] = 0
        for k in range(chains.in_flight):
            t = n * chains.in_flight + k
            chains.token[t * TOKEN_WIDTH + TOKEN_FRAME] = k
            chains.token[t * TOKEN_WIDTH + TOKEN_REPEATS] = chains.network[n * width + REPEATS]
            _enqueue(plan, chains, t, chains.network[n * width + FIRST], np.int64(0))


@jit
def _drawn(plan, chains, now, ended_fj):
    """Dynamic energy up to this instant, what runs counted in part."""
    for u in range(plan.units):
        unit = u * UNIT_WIDTH
        if chains.unit[unit + BUSY]:
            power = chains.cost[chains.unit[unit + GROUP] * COST_WIDTH + COST_DYNAMIC]
            ended_fj += power * (now - chains.unit[unit + STARTED])
    return ended_fj


@jit
def _mark(plan, chains, now, energy, high):
    """Here the window of a network may begin: its frame 4 has ended at this instant."""
    width = SNAPSHOT + plan.networks
    for n in range(plan.networks):
        row = n * width
        if (
            chains.network[row + ENDED] >= chains.count_from
            and chains.network[row + FOURTH_PS] == now
        ):
            chains.network[row + FOURTH_FJ] = energy
            chains.network[row + FOURTH_HIGH] = high
            for m in range(plan.networks):
                chains.network[row + SNAPSHOT + m] = chains.network[m * width + ENDED]


@jit
def _start(chains, u, now):
    """The first group in the unit's queue starts."""
    unit = np.uint32(u * UNIT_WIDTH)
    head = chains.unit[unit + QUEUE_HEAD]
    entry = np.uint32((u * chains.queue_size + head) * QUEUE_WIDTH)
    t = chains.queue[entry + QUEUE_TOKEN]
    chains.unit[unit + QUEUE_HEAD] = (head + 1) & (chains.queue_size - 1)
    chains.unit[unit + QUEUED] -= 1
    group = np.uint32(chains.token[np.uint32(t * TOKEN_WIDTH + TOKEN_GROUP)])
    cost = np.uint32(group * COST_WIDTH)
    chains.unit[unit + BUSY] = 1
    chains.unit[unit + TOKEN] = t
    chains.unit[unit + GROUP] = group
    chains.unit[unit + STARTED] = now
    chains.unit[unit + SINCE] = now
    chains.unit[unit + RATE] = 0
    chains.unit[unit + WORK] = chains.cost[cost + COST_WORK]
    chains.unit[unit + OWN] = chains.cost[cost + COST_OWN]
    chains.unit[unit + HEAVY_NUM] = chains.cost[cost + COST_NUM]
    chains.unit[unit + HEAVY_DEN] = chains.cost[cost + COST_DEN]
    chains.unit[unit + HEAVY_OFFSET] = chains.cost[cost + COST_OFFSET]
    chains.unit[unit + HEAVY_CAP] = chains.cost[cost + COST_CAP]
    chains.heavy_inverse[u] = chains.cost_inverse[group]


@jit
def _update_rate(chains, u, now, total):
    """The rate of what runs on the unit, where all ask for ``total`` kB/s, and when it ends."""
    unit, minor_at = np.uint32(u * UNIT_WIDTH), np.uint32(u * MINOR_WIDTH)
    others = total - chains.unit[unit + OWN]
    minor, heavy = lost_products(
        others,
        chains.minor[minor_at + MINOR_PEAK],
        chains.minor[minor_at + MINOR_NUM],
        chains.unit[unit + HEAVY_OFFSET],
        chains.unit[unit + HEAVY_CAP],
        chains.unit[unit + HEAVY_NUM],
    )
    minor_near = min(np.float64(minor) * chains.minor_inverse[u], LARGEST_LOSS)
    heavy_near = min(np.float64(heavy) * chains.heavy_inverse[u], LARGEST_LOSS)
    rate = rate_after(
        _ceil_near(minor, chains.minor[minor_at + MINOR_DEN], minor_near),
        _ceil_near(heavy, chains.unit[unit + HEAVY_DEN], heavy_near),
    )
    before = chains.unit[unit + RATE]
    if rate != before:
        work = chains.unit[unit + WORK] - before * (now - chains.unit[unit + SINCE])
        chains.unit[unit + WORK] = work
        chains.unit[unit + SINCE] = now
        chains.unit[unit + RATE] = rate
        chains.unit[unit + WHEN] = now + _ceil_near(work, rate, np.float64(work) / np.float64(rate))


@jit
def evaluate_free_chains(
    plan, rows, chosen, chains, possible, window, inferences, dynamic, high, idle
):
    """As :func:`fitness.free_run_play.evaluate_streams`."""
    width = SNAPSHOT + plan.networks
    for r in range(rows.shape[0]):
        possible[r] = choose(plan, rows[r], chosen)
        if not possible[r]:
            continue
        _look_up(plan, chosen, chains)
        _begin(plan, chains)
        left, now = plan.networks, np.int64(0)
        ended_fj, ended_high = np.int64(0), np.int64(0)
        while True:
            marks = False
            for u in range(plan.units):
                unit = np.uint32(u * UNIT_WIDTH)
                if chains.unit[unit + WHEN] != now or not chains.unit[unit + BUSY]:
                    continue
                group = chains.unit[unit + GROUP]
                ran = now - chains.unit[unit + STARTED]
                ended_fj += chains.cost[np.uint32(group * COST_WIDTH + COST_DYNAMIC)] * ran
                if ended_fj >= HIGH_FJ:
                    ended_fj -= HIGH_FJ
                    ended_high += 1
                chains.unit[unit + BUSY] = 0
                chains.unit[unit + OWN] = 0
                t = chains.unit[unit + TOKEN]
                token = np.uint32(t * TOKEN_WIDTH)
                row = np.uint32(chains.token[token + TOKEN_NETWORK] * width)
                ready = now
                if group < chains.network[row + LAST]:
                    group += 1
                    to = chains.cost[np.uint32(group * COST_WIDTH + COST_UNIT)]
                    ready += plan.transition_ps[
                        np.uint32(chains.edge[np.uint32(group)] + u * plan.units + to)
                    ]
                else:
                    group = chains.network[row + FIRST]
                    repeats = chains.token[token + TOKEN_REPEATS] - 1
                    if repeats == 0:
                        repeats = chains.network[row + REPEATS]
                        chains.token[token + TOKEN_FRAME] += chains.in_flight
                        ended = chains.network[row + ENDED] + 1
                        chains.network[row + ENDED] = ended
                        if ended == chains.count_from:
                            chains.network[row + FOURTH_PS] = now
                            marks = True
                        elif ended == chains.frames:
                            chains.network[row + TWELFTH_PS] = now
                            left -= 1
                    chains.token[token + TOKEN_REPEATS] = repeats
                _enqueue(plan, chains, t, group, ready)
            if marks:
                _mark(plan, chains, now, _drawn(plan, chains, now, ended_fj), ended_high)
            if left == 0:
                break
            total = np.int64(0)
            for u in range(plan.units):
                unit = np.uint32(u * UNIT_WIDTH)
                if not chains.unit[unit + BUSY] and chains.unit[unit + QUEUED] > 0:
                    head = chains.unit[unit + QUEUE_HEAD]
                    entry = np.uint32((u * chains.queue_size + head) * QUEUE_WIDTH)
                    chains.unit[unit + WHEN] = chains.queue[entry + QUEUE_READY]
                    if chains.queue[entry + QUEUE_READY] <= now:
                        _start(chains, u, now)
                elif not chains.unit[unit + BUSY]:
                    chains.unit[unit + WHEN] = NEVER
                total += chains.unit[unit + OWN]
            later = NEVER
            for u in range(plan.units):
                unit = np.uint32(u * UNIT_WIDTH)
                if chains.unit[unit + BUSY]:
                    _update_rate(chains, u, now, total)
                later = min(later, chains.unit[unit + WHEN])
            now = later
        slowest = np.int64(0)
        for n in range(1, plan.networks):
            if (
                chains.network[n * width + TWELFTH_PS]
                > chains.network[slowest * width + TWELFTH_PS]
            ):
                slowest = n
        at = slowest * width
        window[r] = now - chains.network[at + FOURTH_PS]
        for n in range(plan.networks):
            inferences[r, n] = chains.network[n * width + ENDED] - chains.network[at + SNAPSHOT + n]
        dynamic[r] = _drawn(plan, chains, now, ended_fj) - chains.network[at + FOURTH_FJ]
        high[r] = ended_high - chains.network[at + FOURTH_HIGH]
        idle[r] = idle_power(plan, rows[r], chosen.domain_on)
