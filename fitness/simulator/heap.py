"""Binary heaps of waiting groups, side by side in one flat array; compiled."""

import numpy as np

from fitness.simulator.jit import jit
from fitness.simulator.state import HEAP_PLACE, HEAP_PRIORITY, HEAP_READY, HEAP_WIDTH


@jit
def sift_up(heap, base, size, ready, priority, place):
    """Adds an entry to the heap that begins at ``base`` and has ``size`` entries."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        over = np.uint32(base + parent * HEAP_WIDTH)
        above = heap[over + HEAP_READY]
        if above < ready or (above == ready and heap[over + HEAP_PRIORITY] < priority):
            break
        _copy_entry(heap, over, np.uint32(base + at * HEAP_WIDTH))
        at = parent
    entry = np.uint32(base + at * HEAP_WIDTH)
    heap[entry + HEAP_READY] = ready
    heap[entry + HEAP_PRIORITY] = priority
    heap[entry + HEAP_PLACE] = place


@jit
def sift_down(heap, base, size):
    """Removes the first entry of the heap at ``base``; ``size`` is what is left."""
    last = np.uint32(base + size * HEAP_WIDTH)
    ready, priority = heap[last + HEAP_READY], heap[last + HEAP_PRIORITY]
    at = np.int64(0)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        under = np.uint32(base + child * HEAP_WIDTH)
        if child + 1 < size:
            beside = np.uint32(under + HEAP_WIDTH)
            if heap[beside + HEAP_READY] < heap[under + HEAP_READY] or (
                heap[beside + HEAP_READY] == heap[under + HEAP_READY]
                and heap[beside + HEAP_PRIORITY] < heap[under + HEAP_PRIORITY]
            ):
                child += 1
                under = beside
        below = heap[under + HEAP_READY]
        if ready < below or (ready == below and priority < heap[under + HEAP_PRIORITY]):
            break
        _copy_entry(heap, under, np.uint32(base + at * HEAP_WIDTH))
        at = child
    _copy_entry(heap, last, np.uint32(base + at * HEAP_WIDTH))


@jit
def _copy_entry(heap, source, target):
    heap[target + HEAP_READY] = heap[source + HEAP_READY]
    heap[target + HEAP_PRIORITY] = heap[source + HEAP_PRIORITY]
    heap[target + HEAP_PLACE] = heap[source + HEAP_PLACE]
