"""Binary heaps of waiting groups; compiled. A heap is a row of ``State.heap``."""

import numpy as np

from fitness.simulator.jit import jit


@jit
def sift_up(heap, size, ready, priority, place):
    """Adds an entry to a heap that has ``size`` entries."""
    at = size
    while at > 0:
        over = (at - 1) >> 1
        above = heap[over].ready
        if above < ready or (above == ready and heap[over].priority < priority):
            break
        heap[at] = heap[over]
        at = over
    heap[at].ready = ready
    heap[at].priority = priority
    heap[at].place = place


@jit
def sift_down(heap, size):
    """Removes the first entry of a heap; ``size`` is what is left."""
    ready, priority = heap[size].ready, heap[size].priority
    at = np.int64(0)
    while True:
        under = 2 * at + 1
        if under >= size:
            break
        if under + 1 < size:
            beside = under + 1
            if heap[beside].ready < heap[under].ready or (
                heap[beside].ready == heap[under].ready
                and heap[beside].priority < heap[under].priority
            ):
                under = beside
        below = heap[under].ready
        if ready < below or (ready == below and priority < heap[under].priority):
            break
        heap[at] = heap[under]
        at = under
    heap[at] = heap[size]
