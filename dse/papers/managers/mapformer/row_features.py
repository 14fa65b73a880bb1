"""Features of a row for the partition tree: few numbers that distinguish mappings.

A gene per group and unit would be 200 x 4 numbers for ten networks, in which two mappings whose
transition points differ by one group are as near as two that have nothing in common. So a row is,
all between 0 and 1:

* per network and unit, the share of the network's groups that are mapped there;
* per network, its edges between different units, as a share of all its edges;
* per network, the place of its first change of unit, as a share of its length (1: none);
* per domain with a choice, its clock's place on the ladder, and 0 where the domain is off;
* per unit, whether anything is mapped there.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.space.design_space import DesignSpace


def row_features(space: DesignSpace, rows: IntArray) -> FloatArray:
    """[n, features] of canonical rows [n, groups + domains]."""
    mapping = rows[:, : space.groups]
    n, networks = len(rows), len(space.first)
    units = np.arange(len(space.problem.units))
    on = (mapping[:, :, None] == units).astype(np.float64)
    shares = np.add.reduceat(on, space.first, axis=1) / space.size[:, None]
    changes = np.zeros((n, space.groups))
    same_network = space.owner[1:] == space.owner[:-1]
    changes[:, 1:] = (mapping[:, 1:] != mapping[:, :-1]) & same_network
    edges = np.maximum(space.size - 1, 1)
    cuts = np.add.reduceat(changes, space.first, axis=1) / edges
    position = (np.arange(space.groups) - space.first[space.owner]) / space.size[space.owner]
    first_cut = np.minimum.reduceat(np.where(changes > 0, position, 1.0), space.first, axis=1)
    free = space.free_domains
    places = (space.place_of_point[free, rows[:, space.groups + free]] + 1) / space.point_count[
        free
    ]
    used = space.units_used(rows)
    clocks = np.where(space.domains_on(used)[:, free], places, 0.0)
    return np.concatenate(
        (shares.reshape(n, networks * len(units)), cuts, first_cut, clocks, used), axis=1
    )
