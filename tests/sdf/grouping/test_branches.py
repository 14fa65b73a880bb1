"""Stretches of layers split into branches, and into single layers."""

from __future__ import annotations

import pytest

from paretosoc.sdf.grouping.network_view import TensorUse
from paretosoc.sdf.grouping.parts import split_branches, split_layers
from paretosoc.sdf.layer import Layer, LayerKind

CONV, ADD, FREE = LayerKind.CONVOLUTION, LayerKind.ELEMENTWISE, LayerKind.RESHAPE


def layers(*kinds: LayerKind) -> list[Layer]:
    return [Layer(f"l{i}", kind.value, kind, 0, 0, 1, 1) for i, kind in enumerate(kinds)]


def tensors(*uses: tuple[int, tuple[int, ...]]) -> list[TensorUse]:
    return [TensorUse(source, readers, 1) for source, readers in uses]


CHAIN = (layers(CONV, CONV, CONV), tensors((0, (1,)), (1, (2,))))
# A residual block: 0 feeds 1 and, past it, the sum 3.
SHORTCUT = (layers(CONV, CONV, CONV, ADD), tensors((0, (1, 3)), (1, (2,)), (2, (3,))))
# The same with a convolution (2) on the shortcut.
PROJECTED = (layers(CONV, CONV, CONV, ADD), tensors((0, (1, 2)), (1, (3,)), (2, (3,))))


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        (CHAIN, [[0, 1, 2]]),
        (SHORTCUT, [[0, 1, 2, 3]]),
        (PROJECTED, [[0], [1], [2], [3]]),
    ],
    ids=["chain", "shortcut", "branches"],
)
def test_branches_are_parts_and_chains_are_one(
    network: tuple[list[Layer], list[TensorUse]], parts: list[list[int]]
) -> None:
    items, uses = network
    assert split_branches(range(len(items)), items, uses) == parts


def test_a_branch_of_several_layers_is_one_part() -> None:
    """0 feeds 1-2 and 3-4, which 5 joins."""
    items = layers(CONV, CONV, CONV, CONV, CONV, ADD)
    uses = tensors((0, (1, 3)), (1, (2,)), (2, (5,)), (3, (4,)), (4, (5,)))
    assert split_branches(range(6), items, uses) == [[0], [1, 2], [3, 4], [5]]
    # Only what is within the stretch counts.
    assert split_branches([1, 2, 3], items, uses) == [[1, 2], [3]]


def test_layers_are_parts_but_for_those_without_cost() -> None:
    items = layers(CONV, FREE, CONV, FREE, ADD)
    uses = tensors((0, (1,)), (1, (2,)), (2, (3,)), (3, (4,)))
    assert split_layers(range(5), items, uses) == [[0, 1], [2, 3], [4]]
    # One that reads the network's input goes to its first reader, in the reader's place.
    first = layers(FREE, CONV, CONV)
    assert split_layers(range(3), first, tensors((0, (1, 2)))) == [[0, 1], [2]]
