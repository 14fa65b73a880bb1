"""Transitions and segments of mappings; compiled."""

from fitness.simulator.jit import jit


@jit
def count_segments(edges, network, unit_of, rows, fed, transitions, segments):
    """Sets ``transitions`` [n, networks], edges between two units, and ``segments`` [n, units],
    groups that no group on the same unit feeds, of ``rows`` [n, groups at least].

    ``edges`` [edges, 2]: source and target; ``network`` [edges]: whose; ``unit_of`` [units]: the
    first entry of the same unit; ``fed`` [groups] is scratch.
    """
    for r in range(rows.shape[0]):
        transitions[r, :] = 0
        segments[r, :] = 0
        fed[:] = 0
        for e in range(edges.shape[0]):
            target = edges[e, 1]
            if unit_of[rows[r, edges[e, 0]]] == unit_of[rows[r, target]]:
                fed[target] = 1
            else:
                transitions[r, network[e]] += 1
        for g in range(fed.shape[0]):
            segments[r, unit_of[rows[r, g]]] += 1 - fed[g]
