"""``certificate.tree``, ``epsilon.tree``: the tree of an exact search, which is its proof.

The choice at a node is not stored: it follows from the problem and the choices above it
(docs/concepts/certificate.md has the rules and the format). A node is one of ``NODE_KINDS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paretosoc.results.errors import ResultError

SPLIT, PART, MEMBERS, TRADE_OFF, TIME_LIMIT, POWER_LIMIT = range(6)
"""Split into children; the root of a further part; closed, because of: a member at least as good as
its bounds; members that leave no room between makespan and energy; a deadline or the period; a
power cap or an energy budget."""
NODE_KINDS = ("split", "part", "members", "trade-off", "time limit", "power limit")
"""Names of these, by the numbers that kernels have, too."""
MAGIC = b"paretosoc-tree/1"
WORD = 8
Nodes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ProofTree:
    """Parts of a tree, each its nodes in preorder, one of ``NODE_KINDS`` each.

    Part 0 has the root. The further parts belong to the nodes of the kind ``PART``, in the order of
    these. A part without nodes is open.
    """

    parts: tuple[Nodes, ...] = field(repr=False)

    @cached_property
    def nodes(self) -> int:
        """Return the number of splits and leaves."""
        return sum(len(part) - int((part == PART).sum()) for part in self.parts)

    @cached_property
    def leaves(self) -> int:
        """Return the number of nodes that are closed."""
        return sum(int((part > PART).sum()) for part in self.parts)

    @property
    def is_complete(self) -> bool:
        """Return whether no part is open."""
        return all(len(part) for part in self.parts)


def tree_bytes(tree: ProofTree) -> bytes:
    """Return the bytes of a tree's file, the same for the same tree."""
    sizes = np.array([len(tree.parts), *map(len, tree.parts)], dtype="<u8")
    return b"".join((MAGIC, sizes.tobytes(), *map(_packed, tree.parts)))


def tree_from_bytes(data: bytes) -> ProofTree:
    """Return the tree in the bytes of its file.

    Raises:
        ResultError: if these are not bytes that :func:`tree_bytes` returns.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise ResultError(f"must begin with {MAGIC.decode()!r}")
    count = _words(data, len(MAGIC), 1)[0]
    if count < 1:
        raise ResultError("must have at least one part")
    sizes = _words(data, len(MAGIC) + WORD, count)
    at = len(MAGIC) + WORD * (count + 1)
    wanted = at + sum((size + 1) // 2 for size in sizes)
    if len(data) != wanted:
        raise ResultError(f"must have {wanted} bytes for its parts, got {len(data)}")
    # Arrays of millions of empty parts would take forty times the bytes of their file.
    if sum(sizes) < count - 1:
        raise ResultError(
            f"must have at least {count - 1} nodes to lead to its {count} parts, got {sum(sizes)}"
        )
    parts = []
    for index, size in enumerate(sizes):
        packed = np.frombuffer(data, dtype=np.uint8, count=(size + 1) // 2, offset=at)
        at += len(packed)
        both = np.empty(2 * len(packed), dtype=np.uint8)
        both[0::2], both[1::2] = packed & 15, packed >> 4
        if both[size:].any() or both.max(initial=0) >= len(NODE_KINDS):
            raise ResultError(f"part {index}: has a node of no known kind")
        parts.append(both[:size])
    return ProofTree(tuple(parts))


def _packed(part: Nodes) -> bytes:
    both = np.zeros(len(part) + len(part) % 2, dtype=np.uint8)
    both[: len(part)] = part
    return (both[0::2] | both[1::2] << 4).tobytes()


def _words(data: bytes, at: int, count: int) -> Sequence[int]:
    if (len(data) - at) // WORD < count:
        raise ResultError("ends before the numbers of nodes of its parts")
    words: list[int] = np.frombuffer(data, dtype="<u8", count=count, offset=at).tolist()
    return words
