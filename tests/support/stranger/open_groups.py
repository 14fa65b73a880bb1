"""What groups without a unit count at least for losses and memory (docs/concepts/certificate.md, A
child is left out)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.stranger.board import Board


def may_use(board: Board, units: Sequence[int | None]) -> list[tuple[int, ...]]:
    """The options left for every group."""
    return [board.may_run[g] if u is None else (u,) for g, u in enumerate(units)]


def least_loss(board: Board, units: Sequence[int | None], groups: Sequence[int]) -> int:
    """Accuracy lost at least."""
    options = may_use(board, units)
    return sum(min(board.loss(o, g) for o in options[g]) for g in groups)


def least_memory(board: Board, units: Sequence[int | None], pool: str | None = None) -> int:
    """Bytes in a pool at least, None: in all of them, whatever the open groups choose."""
    options = may_use(board, units)
    pool_of = [unit.get("memory_pool") for unit in board.options]
    pools = {*pool_of} if pool is None else {pool}
    whole = [bool(unit.get("loads_whole_networks")) for unit in board.options]
    held = 0
    for network, groups in zip(board.networks, board.groups, strict=True):
        for g in groups:
            held += min(
                board.weight(o, g) if pool_of[o] in pools and not whole[o] else 0
                for o in options[g]
            )
        loaded = {options[g][0] for g in groups if len(options[g]) == 1}
        for o in loaded:
            if whole[o] and pool_of[o] in pools:
                held += sum(board.weight(o, g) for g in groups)
        most = network.get("activation_bytes", 0)
        each = network.get("group_activation_bytes", [most] * len(groups))
        for here in pools:
            sure = [
                bytes_
                for g, bytes_ in zip(groups, each, strict=True)
                if {pool_of[o] for o in options[g]} == {here}
            ]
            held += max(sure, default=0)
    return held
