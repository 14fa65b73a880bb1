"""What a generation of NSGA-II consists of: children, and rows near the front. Compiled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.optimizers.selection_jit import is_new, wins
from paretosoc.dse.search.surrogate.load_balancing_jit import remap_row
from paretosoc.dse.space.neighbourhood_jit import draw_neighbours
from paretosoc.dse.space.operators_jit import below, breed_pair, chance, mark_row, repair_row
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.tables import Tables

CROSSOVER_RATE = 0.9
ATTEMPTS = 4
"""Matings that give no new child before the search gives up."""
MAX_MUTATIONS = 8
VISITED_NOW = 1 << 62
"""More visits than there are: members that a generation has visited are not visited again."""


@dataclass(frozen=True, eq=False)
class Generation(Tables):
    """What the rows of a generation are made with."""

    size: int
    """Children of one mating: one for each place in the population."""
    remapped: int
    """Members of the front with one network remapped."""
    drawn: IntArray
    """[four for each pair of children]: positions in the population."""
    effort: IntArray
    """[2]: mutations of each child, and matings."""
    is_new: IntArray
    """[children of one mating, or rows near the front]: scratch."""
    factors: NDArray[np.uint64]
    """[width]: of the hashes of rows."""
    seen: NDArray[np.uint64]
    """Hashes of the rows proposed so far."""
    at: IntArray
    """[2]: see :mod:`dse.space.neighbourhood_jit`. This and what follows is scratch of
    :func:`approach`."""
    source: IntArray
    """[neighbours]: the member that each belongs to."""
    awake: IntArray
    """[remapped and neighbours, settings]: see :func:`dse.space.operators_jit.repair_row`."""


@jit
def mate(space, plan, made, seed, rows, objectives, violation, crowding, children):
    """Fill ``children`` with new ones, and return how many there are.

    Each of ``made.effort[1]`` matings gives a child for each place in the population, ``rows`` [n,
    width], of parents that won tournaments. Children get more mutations if few are new.
    """
    stream = space.stream
    stream[0] = np.uint64(seed)
    count, matings = np.int64(0), np.int64(0)
    while matings < made.effort[1] or (count == 0 and matings < ATTEMPTS):
        matings += 1
        _draw_pairs(stream, rows.shape[0], made.drawn)
        for pair in range((made.size + 1) // 2):
            breed_pair(
                space,
                plan,
                rows[_winner(objectives, violation, crowding, made.drawn, 4 * pair, stream)],
                rows[_winner(objectives, violation, crowding, made.drawn, 4 * pair + 2, stream)],
                CROSSOVER_RATE,
                made.effort[0],
                children[count + 2 * pair],
                children[count + 2 * pair + 1],
            )
        new = _keep_new(children, count, made.size, made)
        count += new
        if new < made.size // 2:
            made.effort[0] = min(made.effort[0] + 1, MAX_MUTATIONS)
        elif new > made.size * 3 // 4:
            made.effort[0] = max(made.effort[0] - 1, 1)
    return count


@jit
def _keep_new(rows, begin, size, made):
    """Move the new ones of ``size`` rows from ``begin`` on to the front, and count them."""
    # All of them are looked up first: so the processor waits for several entries at once.
    for k in range(size):
        made.is_new[k] = is_new(rows[begin + k], made.factors, made.seen)
    count = np.int64(0)
    for k in range(size):
        if made.is_new[k]:
            if count < k:
                _copy(rows[begin + k], rows[begin + count])
            count += 1
    return count


@jit
def _draw_pairs(stream, size, drawn):
    """Fill ``drawn`` with positions below ``size``: permutations, then single draws to the end."""
    whole = drawn.shape[0] // size * size
    for i in range(drawn.shape[0]):
        at = i % size
        if i >= whole:
            drawn[i] = below(stream, size)
            continue
        # Exchanged with a random one of those so far, which makes a permutation of every part.
        other = i - at + below(stream, at + 1)
        drawn[i] = drawn[other]
        drawn[other] = at


@jit
def _winner(objectives, violation, crowding, drawn, at, stream):
    """Return the better of two positions that were drawn."""
    a, b = drawn[at], drawn[at + 1]
    return a if wins(objectives, violation, crowding, a, b, chance(stream) > 0.5) else b


@jit
def _copy(source, target):
    for g in range(source.shape[0]):
        target[g] = source[g]


@jit
def approach(space, plan, balance, made, seed, rows, front, visits, members, wanted):
    """Fill ``rows`` with new ones near the front, and return how many there are.

    They are members of ``front`` [m, width] with one network remapped, and neighbours of those with
    the fewest ``visits`` [m], which are counted. ``made.at[1]`` becomes the number of
    neighbours. Scratch: ``members`` [members visited, width], ``wanted`` [neighbours].
    """
    stream, awake = space.stream, made.awake
    stream[0] = np.uint64(seed)
    for k in range(made.remapped):
        _copy(front[below(stream, front.shape[0])], rows[k])
        mark_row(space, rows[k], awake[k])
        remap_row(space, plan, balance, stream, rows[k : k + 1])
    visited = min(members.shape[0], front.shape[0])
    for k in range(visited):
        _copy(front[_visit(visits, stream)], members[k])
    for m in range(visits.shape[0]):
        if visits[m] >= VISITED_NOW:
            visits[m] -= VISITED_NOW - 1
    near = rows[made.remapped :]
    draw_neighbours(space, stream, members[:visited], wanted, made.at, near, made.source)
    for k in range(made.at[1]):
        mark_row(space, members[made.source[k]], awake[made.remapped + k])
    count = made.remapped + made.at[1]
    for k in range(count):
        repair_row(space, plan, stream, rows[k], awake[k], space.used[0])
    return _keep_new(rows, 0, count, made)


@jit
def _visit(visits, stream):
    """Return one of the least visited members, and count a visit of this generation to it."""
    least, chosen, ties = visits[0], np.int64(0), np.int64(0)
    for m in range(visits.shape[0]):
        if visits[m] < least:
            least, ties = visits[m], np.int64(0)
        if visits[m] == least:
            ties += 1
            if below(stream, ties) == 0:
                chosen = np.int64(m)
    visits[chosen] += VISITED_NOW
    return chosen
