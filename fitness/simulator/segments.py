"""Transitions and segments of mappings; compiled."""

from paretosoc.fitness.simulator.jit import jit


@jit
def count_segments(edges, network, unit_of, is_first, rows, transitions, segments):
    """Sets ``transitions`` [n, networks], edges between two units, and ``segments`` [n, units],
    groups that are the first of a network or follow one elsewhere or in another number format, of
    ``rows`` [n, groups at least].

    ``edges`` [edges, 2]: source and target; ``network`` [edges]: whose; ``unit_of`` [units]: the
    first entry of the same unit; ``is_first`` [groups]: 1 for the first group of a network.
    """
    for r in range(rows.shape[0]):
        transitions[r, :] = 0
        segments[r, :] = 0
        for e in range(edges.shape[0]):
            if unit_of[rows[r, edges[e, 0]]] != unit_of[rows[r, edges[e, 1]]]:
                transitions[r, network[e]] += 1
        for g in range(is_first.shape[0]):
            if is_first[g] == 1 or rows[r, g] != rows[r, g - 1]:
                segments[r, unit_of[rows[r, g]]] += 1
