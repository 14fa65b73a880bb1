"""Cutting a stretch of layers at places that several tensors cross: skip connections, heads,
attention.

Most of a network may lie between two places that a single tensor crosses. Such a stretch is split
into its parallel branches. A branch of much work is put into an order of execution in which little
data is alive at a time, and cut into pieces of about equal work at places that few elements cross.
Layers that runtimes fuse stay together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from paretosoc.sdf.grouping.network_view import MACS_PER_ELEMENT, NetworkView, fuses
from paretosoc.sdf.grouping.parts import join_small_parts, split_branches
from paretosoc.sdf.layer import LayerKind

MAX_ATOMS = 2_000
"""Most smallest pieces of a stretch. With more, neighbours are joined first."""
MAX_PIECE = 4
"""A piece of several atoms has at most this many times the work that is asked for."""
LOST_UNIT = 4
"""The cost of a group that could run on all units but for some layers in it: its work times
this."""
MAX_BRANCHES = 4
"""If there are more branches than pieces of that work times this, the branches do not count."""
SMALL = 8
"""A part of less than the work that is asked for over this joins one beside it."""
_POINTWISE = frozenset({LayerKind.ACTIVATION, LayerKind.ELEMENTWISE})


def cut_stretch(view: NetworkView, members: Sequence[int], work_per_piece: int) -> list[list[int]]:
    """Split a stretch of layers into branches, and these into pieces of about the given work.

    Args:
        members: the stretch, ascending. Nothing outside lies between its layers.
        work_per_piece: above 0, as :meth:`NetworkView.work_of` measures it.
    """
    most = MAX_BRANCHES * (view.work_of(members) // work_per_piece + 1)
    branches = split_branches(members, view.layers, view.tensors_of(members))
    branches = join_small_parts(view, branches, work_per_piece // SMALL)
    if len(branches) > most:
        branches = [list(members)]
    return [piece for part in branches for piece in cut_into_pieces(view, part, work_per_piece)]


def cut_into_pieces(
    view: NetworkView, members: Sequence[int], work_per_piece: int
) -> list[list[int]]:
    """Cut layers into pieces of about the given work, in an order of execution.

    The pieces are a shortest path over the possible cuts. A piece costs its work squared over the
    work asked for, plus the work asked for. A cut costs moving all that crosses it out of one
    unit's cache and into another's. A layer that some units cannot run costs the work around it
    that those units lose. Arguments as for :func:`cut_stretch`.
    """
    order = _order(view, members)
    atoms = _atoms(view, order)
    position = {index: place for place, atom in enumerate(atoms) for index in atom}
    crossing = MACS_PER_ELEMENT * 2 * _crossing(view, position, len(atoms))
    work = np.array([view.work_of(atom) for atom in atoms], dtype=np.float64)
    support = np.array([view.units_of(atom) for atom in atoms])
    starts = _cheapest_starts(work, support, crossing, work_per_piece)
    return [
        sorted(index for atom in atoms[start:end] for index in atom)
        for start, end in pairwise((*starts, len(atoms)))
    ]


def _order(view: NetworkView, members: Sequence[int]) -> list[int]:
    """Return the order of the file, or depth first if fewer elements are alive in it on average."""
    orders = [list(members), _depth_first(view, members)]
    return min(orders, key=lambda order: int(_alive(view, order).sum()))


def _alive(view: NetworkView, order: Sequence[int]) -> NDArray[np.int64]:
    return _crossing(view, {index: place for place, index in enumerate(order)}, len(order))


def _depth_first(view: NetworkView, members: Sequence[int]) -> list[int]:
    """Return an order of execution that follows each branch to its end: the layer that became ready
    last is next, and of several the one that comes first in the file."""
    inside = set(members)
    waiting = dict.fromkeys(members, 0)
    readers: dict[int, list[int]] = {index: [] for index in members}
    for tensor in view.tensors_of(members):
        for reader in inside.intersection(tensor.readers):
            waiting[reader] += 1
            readers[tensor.source].append(reader)
    ready = [index for index in reversed(members) if not waiting[index]]
    order = []
    while ready:
        index = ready.pop()
        order.append(index)
        for reader in sorted(readers[index], reverse=True):
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return order


def _crossing(view: NetworkView, position: dict[int, int], count: int) -> NDArray[np.int64]:
    """Return the elements that cross before each place, [count]. Tensors from or to the outside lie
    before the first or behind the last place."""
    changes = np.zeros(count + 1, dtype=np.int64)
    for number in {number for index in position for number in view.tensors_at[index]}:
        tensor = view.tensors[number]
        first = position.get(tensor.source, -1)
        last = max(position.get(reader, -1) for reader in tensor.readers)
        if first >= 0 and any(reader not in position for reader in tensor.readers):
            last = count - 1
        changes[first + 1] += tensor.elements
        changes[last + 1] -= tensor.elements
    return np.cumsum(changes)[:count]


def _atoms(view: NetworkView, order: Sequence[int]) -> list[list[int]]:
    """Return the stretches that tear no fusion apart, joined with neighbours if very many."""
    position = {index: place for place, index in enumerate(order)}
    torn = np.zeros(len(order) + 1, dtype=np.int64)
    nearest: dict[int, int] = {}
    """By layer, the place of the last layer before it that it reads."""
    # A scale of dynamic quantisation is read behind the convolution that it is of.
    for tensor in (each for each in view.tensors_of(order) if each.elements > 1):
        for reader in position.keys() & set(tensor.readers):
            place = position[tensor.source]
            nearest[reader] = max(place, nearest.get(reader, place))
    for index, place in nearest.items():
        if _stay_together(view, index, order[place]):
            torn[place + 1] += 1
            torn[position[index] + 1] -= 1
    atoms: list[list[int]] = []
    for index, cut in zip(order, np.cumsum(torn), strict=False):
        if cut and atoms:
            atoms[-1].append(index)
        else:
            atoms.append([index])
    if len(atoms) <= MAX_ATOMS:
        return atoms
    sums = [0, *accumulate(view.work_of(atom) + 1 for atom in atoms)]
    ends = {bisect_left(sums, sums[-1] * part // MAX_ATOMS) for part in range(MAX_ATOMS + 1)}
    return [[i for atom in atoms[a:b] for i in atom] for a, b in pairwise(sorted(ends))]


def _stay_together(view: NetworkView, index: int, producer: int) -> bool:
    """Return whether runtimes fuse a layer with the one that it reads. Adds to :func:`fuses`
    normalisations that are written out, and the second product of attention with its softmax."""
    layer, before = view.layers[index], view.layers[producer]
    if layer.kind is LayerKind.REDUCTION:
        readers = [reader for tensor in view.tensors_of([producer]) for reader in tensor.readers]
        return before.kind in _POINTWISE and readers == [index]
    if before.kind is LayerKind.REDUCTION:
        return layer.kind in _POINTWISE
    if before.kind is LayerKind.SOFTMAX:
        return layer.kind is LayerKind.MATRIX_PRODUCT and not layer.parameters
    return fuses(layer, before)


def _cheapest_starts(
    work: NDArray[np.float64],
    support: NDArray[np.bool_],
    crossing: NDArray[np.int64],
    work_per_piece: int,
) -> list[int]:
    """Return the starts of the pieces: a shortest path over the places between atoms."""
    count, units = support.shape
    sums = np.concatenate(([0.0], np.cumsum(work)))
    runnable = np.concatenate((np.zeros((1, units)), np.cumsum(support * work[:, None], axis=0)))
    # By unit, the start from which a piece up to here holds nothing that the unit cannot run.
    clean = np.zeros(units, dtype=np.int64)
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    came_from = np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        clean[~support[end - 1]] = end
        low = int(np.searchsorted(sums, sums[end] - MAX_PIECE * work_per_piece))
        low = min(max(low, int(clean.min())), end - 1)
        starts = np.arange(low, end)
        size = sums[end] - sums[low:end]
        lost = (runnable[end] - runnable[low:end]) * (starts[:, None] < clean)
        cost = (
            best[low:end]
            + size**2 / work_per_piece
            + work_per_piece
            + crossing[low:end] * (starts > 0)
            + LOST_UNIT * lost.sum(axis=1) / units
        )
        choice = int(np.argmin(cost))
        best[end], came_from[end] = cost[choice], low + choice
    starts_found = [int(came_from[count])]
    while starts_found[-1]:
        starts_found.append(int(came_from[starts_found[-1]]))
    return starts_found[::-1]
