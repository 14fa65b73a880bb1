"""Units, work and traffic of parts of a network, by hand."""

from __future__ import annotations

import numpy as np

from paretosoc.sdf.grouping.network_view import MACS_PER_ELEMENT, NetworkView, TensorUse
from paretosoc.sdf.layer import Layer, LayerKind


def layer(name: str, *, macs: int, parameters: int, reads: int, writes: int) -> Layer:
    return Layer(name, "Conv", LayerKind.CONVOLUTION, macs, parameters, reads, writes)


# The input has 10 elements; a makes 20, which b and c read; b makes 5, c 7, and d reads both.
VIEW = NetworkView(
    layers=(
        layer("a", macs=100, parameters=1, reads=10, writes=20),
        layer("b", macs=200, parameters=2, reads=20, writes=5),
        layer("c", macs=300, parameters=3, reads=20, writes=7),
        layer("d", macs=400, parameters=4, reads=12, writes=6),
    ),
    tensors=(TensorUse(0, (1, 2), 20), TensorUse(1, (3,), 5), TensorUse(2, (3,), 7)),
    support=np.array([[True, True], [True, False], [False, True], [True, True]]),
)


def test_units_can_run_every_layer_of_a_part() -> None:
    assert VIEW.units_of([0, 3]).tolist() == [True, True]
    assert VIEW.units_of([0, 1]).tolist() == [True, False]
    assert VIEW.units_of([1, 2]).tolist() == [False, False]


def test_each_tensor_enters_and_leaves_a_part_once() -> None:
    assert VIEW.traffic_of([0]) == (10, 20)
    assert VIEW.traffic_of([1]) == (20, 5)
    # a's tensor is read by both, and enters once.
    assert VIEW.traffic_of([1, 2]) == (20, 12)
    # It is read within and outside: it leaves once.
    assert VIEW.traffic_of([0, 1]) == (10, 25)
    assert VIEW.traffic_of([1, 2, 3]) == (20, 6)
    assert VIEW.traffic_of([0, 1, 2, 3]) == (10, 6)


def test_work_weighs_operations_parameters_and_traffic() -> None:
    assert VIEW.work_of([1, 2]) == 500 + MACS_PER_ELEMENT * (5 + 20 + 12)
    apart = VIEW.work_of([1]) + VIEW.work_of([2])
    assert apart - VIEW.work_of([1, 2]) == MACS_PER_ELEMENT * 20
