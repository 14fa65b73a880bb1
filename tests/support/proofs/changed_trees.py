"""Trees with something changed."""

from __future__ import annotations

import random

from paretosoc.results.front.proof_tree import MEMBERS, NODE_KINDS, PART


def change_tree(random_: random.Random, parts: list[list[int]]) -> None:
    """Changes something: the kind of a node, all nodes of one kind; nodes are dropped, doubled or
    swapped, a leaf is moved into a part of its own, a part is emptied, dropped or swapped."""
    if not any(parts):
        return
    part = random_.choice([part for part in parts if part])
    at = random_.randrange(len(part))
    kind = random_.randrange(len(NODE_KINDS))
    match random_.randrange(9):
        case 0:
            part[at] = kind
        case 1:
            part[at] ^= 1 << random_.randrange(3)
            part[at] = min(part[at], len(NODE_KINDS) - 1)
        case 2:
            del part[at : at + random_.choice([1, 2, 10])]
        case 3:
            part[at:at] = part[at : at + random_.choice([1, 2, 10])]
        case 4:
            other = random_.choice([part for part in parts if part])
            there = random_.randrange(len(other))
            part[at], other[there] = other[there], part[at]
        case 5:
            # True as it was, if it is a leaf and the parts stay in order.
            if PART not in part[at:] and part[at] > PART:
                parts.append([part[at]])
                part[at] = PART
        case 6:
            old = part[at]
            part[:] = [kind if each == old else each for each in part]
        case 7:
            parts[random_.randrange(len(parts))] = random_.choice([[], [MEMBERS]])
        case 8:
            a, b = random_.randrange(len(parts)), random_.randrange(len(parts))
            parts[a], parts[b] = parts[b], parts[a]
            if random_.randrange(2):
                del parts[a]
    if not parts:
        parts.append([])


def change_bytes(random_: random.Random, data: bytes) -> bytes:
    """A bit of a tree's file is another one, a byte is dropped or doubled, or the end is gone."""
    at = random_.randrange(len(data))
    match random_.randrange(6):
        case 0:
            return data[:at] + data[at + 1 :]
        case 1:
            return data[: at + 1] + data[at:]
        case 2:
            return data[:at]
    return data[:at] + bytes([data[at] ^ 1 << random_.randrange(8)]) + data[at + 1 :]
