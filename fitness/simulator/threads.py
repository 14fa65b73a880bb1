"""Rows shared out to threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from common.arrays import IntArray

RowPlayer = Callable[..., object]
"""Simulates rows [n, groups + domains]; takes them and arrays [n, ...] to fill."""


def share_rows(players: Sequence[RowPlayer]) -> RowPlayer:
    """A player that shares its rows out to others, each with buffers and a thread of its own."""
    pool = ThreadPoolExecutor(len(players)) if len(players) > 1 else None

    def play(rows: IntArray, *out: np.ndarray) -> None:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        if pool is None:
            players[0](rows, *out)
            return
        bounds = [len(rows) * job // len(players) for job in range(len(players) + 1)]
        parts = [slice(*pair) for pair in pairwise(bounds)]

        def play_part(player: RowPlayer, part: slice) -> None:
            player(rows[part], *(array[part] for array in out))

        list(pool.map(play_part, players, parts))

    return play
