"""Binary heaps of waiting groups. Compiled. A heap is a row of ``State.heap``."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit


@jit
def sift_up(heap, size, ready, order, place):
    """Add an entry to a heap that has ``size`` entries."""
    at = size
    while at > 0:
        over = (at - 1) >> 1
        above = heap[over].ready
        if above < ready or (above == ready and heap[over].order < order):
            break
        heap[at] = heap[over]
        at = over
    heap[at].ready = ready
    heap[at].order = order
    heap[at].place = place


@jit
def sift_down(heap, size):
    """Remove the first entry of a heap. ``size`` is the number of entries left."""
    ready, order = heap[size].ready, heap[size].order
    at = np.int64(0)
    while True:
        under = 2 * at + 1
        if under >= size:
            break
        if under + 1 < size:
            beside = under + 1
            if heap[beside].ready < heap[under].ready or (
                heap[beside].ready == heap[under].ready and heap[beside].order < heap[under].order
            ):
                under = beside
        below = heap[under].ready
        if ready < below or (ready == below and order < heap[under].order):
            break
        heap[at] = heap[under]
        at = under
    heap[at] = heap[size]


@jit
def lift(heap, at):
    """Move an entry to the top, from which :func:`sift_down` removes it.

    Entries above it move down, so that all others stay a heap.
    """
    ready, order, place = heap[at].ready, heap[at].order, heap[at].place
    while at > 0:
        over = (at - 1) >> 1
        heap[at] = heap[over]
        at = over
    heap[0].ready = ready
    heap[0].order = order
    heap[0].place = place
