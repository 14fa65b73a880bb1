"""What units can run: the DLA's restrictions one by one, and whole networks."""

from __future__ import annotations

import numpy as np
import pytest

from paretosoc.common.documents.schema import read_schema
from paretosoc.fitness.cost_model.roofline import CLASSES, LINEAR_RESIZE
from paretosoc.fitness.cost_model.support import (
    LIMITS,
    host_tail,
    layer_support,
    why_not,
)
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.layer import Layer, LayerKind
from tests.support.problems.small_networks import layer, window

XAVIER = load_platform("jetson-agx-xavier")
DLA = XAVIER.unit_by_name["dla0"]
PLANE = (1, 16, 7, 7)


def conv(**changes: int) -> Layer:
    return layer("c", LayerKind.CONVOLUTION, window=window(**changes), macs=1, parameters=1)


def pool(operation: str = "AveragePool", reads: tuple[int, ...] = PLANE, **changes: int) -> Layer:
    return layer(
        "p", LayerKind.POOLING, operation=operation, reads=[reads], window=window(**changes)
    )


def global_pool(side: int, operation: str = "GlobalAveragePool") -> Layer:
    kind = LayerKind.REDUCTION if operation == "ReduceMean" else LayerKind.POOLING
    return layer(
        "g",
        kind,
        operation=operation,
        reads=[(1, 16, side, side)],
        writes=(1, 16, 1, 1),
        window=None if kind is LayerKind.REDUCTION else window(side, 1, 0),
    )


def resize(mode: str, side: int = 16) -> Layer:
    shape = (1, 16, side, side)
    return layer("u", LayerKind.RESIZE, operation="Resize", mode=mode, writes=shape)


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        (conv(kernel=32), conv(kernel=33), "kernel outside 1 to 32"),
        (conv(stride=8), conv(stride=9), "stride outside 1 to 8"),
        (conv(pad=31), conv(pad=32), "padding outside 0 to 31"),
        (conv(dilation=32), conv(dilation=33), "dilation outside 1 to 32"),
        (pool(kernel=8), pool(kernel=9), "window above 8"),
        (pool(stride=16), pool(stride=17), "stride above 16"),
        (pool(pad=7), pool(pad=8), "padding above 7"),
        (global_pool(7), global_pool(13), "prime factor above 8"),
        (global_pool(14), global_pool(11), "prime factor above 8"),
        (global_pool(7, "ReduceMean"), global_pool(13, "ReduceMean"), "prime factor above 8"),
        (
            layer("d", LayerKind.DECONVOLUTION, window=window(pad=0)),
            layer("d", LayerKind.DECONVOLUTION, window=window(pad=1)),
            "padding in a deconvolution",
        ),
        (
            layer("d", LayerKind.DECONVOLUTION, window=window(pad=0)),
            layer("d", LayerKind.DECONVOLUTION, window=window(pad=0, groups=2)),
            "grouped deconvolution",
        ),
        (
            layer("m", LayerKind.MATRIX_PRODUCT, parameters=1000),
            layer("m", LayerKind.MATRIX_PRODUCT, operation="MatMul"),
            "product of two activations",
        ),
        (
            layer("c", LayerKind.CONCATENATION, axis=1),
            layer("c", LayerKind.CONCATENATION, axis=2),
            "another axis",
        ),
        (
            layer("a", LayerKind.ACTIVATION, operation="LeakyRelu"),
            layer("a", LayerKind.ACTIVATION, operation="HardSwish"),
            "does not run HardSwish",
        ),
        (
            layer("e", LayerKind.ELEMENTWISE),
            layer("e", LayerKind.ELEMENTWISE, operation="Exp"),
            "does not run Exp",
        ),
        (
            layer("r", LayerKind.REDUCTION),
            layer("r", LayerKind.REDUCTION, operation="ReduceSum"),
            "does not run ReduceSum",
        ),
        (
            layer("t", LayerKind.DATA_MOVEMENT),
            layer("t", LayerKind.DATA_MOVEMENT, writes=(1, 2, 8, 8, 8)),
            "more than four dimensions",
        ),
        (
            layer("a", LayerKind.ACTIVATION, writes=(4096, 8, 1, 1)),
            layer("a", LayerKind.ACTIVATION, writes=(4097, 8, 1, 1)),
            "batch above 4096",
        ),
        (
            layer("a", LayerKind.ACTIVATION, writes=(1, 1, 1, 8192)),
            layer("a", LayerKind.ACTIVATION, writes=(1, 1, 1, 8193)),
            "dimension above 8192",
        ),
        (
            layer("f", LayerKind.RESHAPE, writes=(1, 25088)),
            layer("s", LayerKind.SOFTMAX),
            "runs no softmax",
        ),
        (layer("a", LayerKind.ACTIVATION), layer("a", LayerKind.ATTENTION), "runs no attention"),
        (resize("nearest asymmetric"), resize("cubic"), "does not run Resize cubic"),
        (resize("linear"), resize("linear asymmetric"), "does not run Resize linear asymmetric"),
        (resize("linear", 16), resize("linear", 12), "other than whole factors from 1 to 32"),
        (
            layer("f", LayerKind.RESHAPE, writes=(1, 2, 8, 8, 8)),
            layer("e", LayerKind.ELEMENTWISE, writes=(1, 2, 8, 8, 8)),
            "more than four dimensions",
        ),
    ],
)
def test_restrictions_of_the_dla(good: Layer, bad: Layer, reason: str) -> None:
    assert why_not(good, DLA, "fp16") is None
    why = why_not(bad, DLA, "fp16")
    assert why is not None
    assert reason in why
    gpu = XAVIER.unit_by_name["gpu"]
    assert why_not(bad, gpu, "fp16") is None


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        (conv(kernel=32), conv(kernel=33), "kernel outside 1 to 32"),
        (conv(stride=32), conv(stride=33), "stride outside 1 to 32"),
        (conv(pad=15), conv(pad=16), "padding outside 0 to 15"),
        (
            layer("d", LayerKind.DECONVOLUTION, window=window(stride=4)),
            layer("d", LayerKind.DECONVOLUTION, window=window(stride=3)),
            "stride in a deconvolution other than 1, 2, 4, 8",
        ),
        (resize("linear", 16), resize("linear", 12), "non-integer factor"),
        (resize("nearest"), resize("cubic"), "Resize cubic"),
        (
            layer("e", LayerKind.ELEMENTWISE, operation="Add"),
            layer("e", LayerKind.ELEMENTWISE, operation="Neg"),
            "does not run Neg",
        ),
    ],
)
def test_restrictions_of_rk3588(good: Layer, bad: Layer, reason: str) -> None:
    chip = load_platform("rk3588")
    for npu in ("npu0", "npu1", "npu2"):
        assert why_not(good, chip.unit_by_name[npu], "int8") is None
        assert reason in str(why_not(bad, chip.unit_by_name[npu], "int8"))
    assert why_not(bad, chip.unit_by_name["a76"], "int8") is None


def test_softmax_runs_on_the_dla_of_orin() -> None:
    orin = load_platform("jetson-agx-orin").unit_by_name["dla0"]
    assert why_not(layer("s", LayerKind.SOFTMAX), orin, "fp16") is None
    vector, plane = (
        layer("s", LayerKind.SOFTMAX, reads=[(1, 2000, side, 1)], axis=1) for side in (1, 2)
    )
    assert why_not(vector, orin, "fp16") is None
    assert "more than 1024 elements" in str(why_not(plane, orin, "fp16"))


def test_a_dla_runs_nothing_wider_than_fp16() -> None:
    assert why_not(conv(), DLA, "fp32") == "dla0 computes in fp16 and int8, not in fp32"


def test_the_last_softmax_of_a_classifier_is_left_to_the_host() -> None:
    classes = (1, 1000)
    softmax = layer("s", LayerKind.SOFTMAX, reads=[classes], writes=classes)
    flat = layer("f", LayerKind.RESHAPE, reads=[classes], writes=classes)
    planes = layer("s", LayerKind.SOFTMAX)
    assert host_tail([conv(), flat, softmax]) == {1, 2}
    assert host_tail([conv(), softmax, flat]) == {1, 2}
    assert host_tail([conv(), flat]) == set()
    assert host_tail([conv(), planes]) == set()
    assert host_tail([softmax, conv()]) == set()
    table = layer_support([conv(), flat, softmax], XAVIER).table
    assert table.all()
    assert table.shape == (3, 4)


def test_a_softmax_in_the_middle_is_named() -> None:
    softmax = layer("s", LayerKind.SOFTMAX)
    support = layer_support([conv(), softmax, conv()], XAVIER)
    assert support.table[1].tolist() == [True, True, False, False]
    assert support.reasons[1][2] == "dla0 runs no softmax (Softmax)"
    assert support.table.any(axis=1).all()
    nothing = layer_support([conv()], XAVIER, "fp8")
    assert nothing.layers == ("c",)
    assert not nothing.table.any()


@pytest.mark.parametrize("name", ["vgg19", "resnet50", "inception_v1", "densenet121"])
def test_networks_of_table_5_run_whole_on_the_dla(name: str) -> None:
    layers = [actor.layer for actor in load_network(name).graph.actors if actor.layer]
    support = layer_support(layers, XAVIER)
    assert not [reason for row in support.reasons for reason in row if reason]


def test_squeezenet_leaves_the_dla_for_its_average_of_13_by_13() -> None:
    layers = [actor.layer for actor in load_network("squeezenet").graph.actors if actor.layer]
    table = layer_support(layers, XAVIER).table
    (place,) = np.flatnonzero(~table[:, 2])
    assert layers[place].operation == "GlobalAveragePool"


def test_the_schema_knows_every_kind_and_every_limit() -> None:
    figures = read_schema(("paretosoc.platforms.data", "figures"))["$defs"]
    platform = read_schema(("paretosoc.platforms.data", "platform"))
    unit = platform["properties"]["units"]["items"]["properties"]
    limits = unit["support"]["properties"]["rules"]["items"]["properties"]["limit"]["enum"]
    assert set(limits) == set(LIMITS)
    assert figures["layer_kind"]["enum"] == [kind.value for kind in LayerKind]
    keys = unit["peaks"]["items"]["properties"]["efficiency"]["propertyNames"]["anyOf"][0]["enum"]
    assert set(keys) == {"default", LINEAR_RESIZE, *CLASSES}


@pytest.mark.parametrize("name", platform_names())
def test_operations_that_a_platform_names_exist(name: str) -> None:
    from paretosoc.sdf.onnx.operators.op_kinds import kind_of

    for unit in load_platform(name).units:
        for operation in unit.unsupported_operations:
            assert kind_of("", operation.split()[0]) is not LayerKind.UNKNOWN, operation
