"""Damaged models give an error of ours or a network, never anything else."""

import random
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.importer import import_onnx_bytes

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
NAMES = ("bvlc_alexnet", "squeezenet", "shufflenet", "zfnet512")
ODD = (0, -1, 1, 2, 3, -2, 7, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 100_000)


def survives(data: bytes) -> bool:
    """Whether the bytes are still a network; anything but a GraphError fails the test."""
    try:
        import_onnx_bytes(data, name="fuzzed")
    except GraphError as error:
        text = str(error)
    else:
        return True
    assert text.startswith("fuzzed: ")
    assert "\n" not in text
    return False


@pytest.fixture(scope="module")
def models() -> dict[str, bytes]:
    return {name: (LIGHT / f"light_{name}.onnx").read_bytes() for name in NAMES}


def test_flipped_bytes(models: dict[str, bytes]) -> None:
    draw = random.Random(1)
    outcomes = set()
    for _ in range(150):
        data = bytearray(models[draw.choice(NAMES)])
        for _ in range(draw.choice((1, 1, 2, 8))):
            data[draw.randrange(len(data))] = draw.randrange(256)
        outcomes.add(survives(bytes(data)))
    assert outcomes == {True, False}


def test_every_truncation_of_a_model(models: dict[str, bytes]) -> None:
    data = models["zfnet512"]
    assert survives(data)
    for length in range(len(data)):
        assert not survives(data[:length]) or length > len(data) - 100


def test_noise() -> None:
    draw = random.Random(2)
    for length in (*range(64), 1000, 100_000):
        assert not survives(draw.randbytes(length))


def test_spliced_models_are_read_or_refused_with_a_graph_error(models: dict[str, bytes]) -> None:
    draw = random.Random(3)
    for _ in range(100):
        first, second = (models[name] for name in draw.sample(NAMES, 2))
        survives(first[: draw.randrange(len(first))] + second[draw.randrange(len(second)) :])


def damage(model: ModelProto, draw: random.Random) -> None:
    """Changes fields but keeps the format: what parses but makes no sense."""
    graph = model.graph
    node = draw.choice(graph.node)
    match draw.randrange(8):
        case 0 if node.attribute:
            attribute = draw.choice(node.attribute)
            if attribute.ints:
                attribute.ints[draw.randrange(len(attribute.ints))] = draw.choice(ODD)
            else:
                attribute.i = draw.choice(ODD)
        case 1 if node.attribute:
            draw.choice(node.attribute).type = draw.randrange(15)
        case 2 if node.attribute:
            del draw.choice(node.attribute).ints[:]
        case 3:
            dims = draw.choice(graph.input).type.tensor_type.shape.dim
            if dims:
                draw.choice(dims).dim_value = draw.choice(ODD)
        case 4 if node.input:
            node.input[draw.randrange(len(node.input))] = draw.choice(
                ("", "nowhere", draw.choice(graph.node).output[0])
            )
        case 5:
            node.op_type = draw.choice(graph.node).op_type
        case 6:
            model.opset_import[0].version = draw.choice((*ODD, *range(1, 25)))
        case 7 if graph.initializer:
            tensor = draw.choice(graph.initializer)
            if tensor.dims:
                tensor.dims[0] = draw.choice(ODD)
            if tensor.int64_data:
                tensor.int64_data[0] = draw.choice(ODD)


def test_senseless_fields(models: dict[str, bytes]) -> None:
    draw = random.Random(4)
    outcomes = set()
    for _ in range(150):
        model = ModelProto.FromString(models[draw.choice(NAMES)])
        for _ in range(draw.randint(1, 3)):
            damage(model, draw)
        outcomes.add(survives(model.SerializeToString()))
    assert outcomes == {True, False}
