"""Rows shared out to threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from paretosoc.common.arrays import IntArray

RowSimulator = Callable[..., object]
"""Simulates rows [n, groups + domains]; takes them and arrays [n, ...] to fill."""


def share_rows(simulators: Sequence[RowSimulator]) -> RowSimulator:
    """Return a simulator that shares its rows out to others, each with buffers and a thread."""
    pool = ThreadPoolExecutor(len(simulators)) if len(simulators) > 1 else None

    def simulate(rows: IntArray, *out: np.ndarray) -> None:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        if pool is None:
            simulators[0](rows, *out)
            return
        bounds = [len(rows) * job // len(simulators) for job in range(len(simulators) + 1)]
        parts = [slice(*pair) for pair in pairwise(bounds)]

        def simulate_part(simulator: RowSimulator, part: slice) -> None:
            simulator(rows[part], *(array[part] for array in out))

        list(pool.map(simulate_part, simulators, parts))

    return simulate
