"""The package's own example of every operator: shapes against those that it declares."""

import random
import warnings

import pytest
from onnx import ModelProto

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.importer import import_onnx_bytes

# Outputs whose size depends on the data are taken at their largest.
BOUNDED = ("test_compress", "test_nonmaxsuppression", "test_nonzero", "test_unique")
# Why examples may be refused: their shapes are data, or they are no tensors.
REFUSED = (
    "control flow", "is unknown", "sequences, maps", "is not a tensor", "no layer",
    "its shape is not a constant", "need a size", "it has no input",
)  # fmt: skip


@pytest.fixture(scope="module")
def examples() -> dict[str, ModelProto]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    return {case.name: case.model for case in cases if case.model is not None}


def test_every_operator_of_the_package(examples: dict[str, ModelProto]) -> None:
    assert len(examples) > 1000
    imported, refusals = 0, []
    for name, model in examples.items():
        try:
            network = import_onnx_bytes(model.SerializeToString(), name=name)
        except GraphError as error:
            refusals.append(str(error))
            continue
        imported += 1
        shapes = dict(network.outputs)
        for output in model.graph.output:
            declared = output.type.tensor_type.shape.dim
            sizes = tuple(size.dim_value for size in declared)
            if name.startswith(BOUNDED):
                assert len(shapes[output.name]) == len(sizes)
            elif all(size.HasField("dim_value") and size.dim_value > 0 for size in declared):
                assert shapes[output.name] == sizes, name
    assert imported > 0.9 * len(examples)
    assert [text for text in refusals if not any(reason in text for reason in REFUSED)] == []


def test_damaged_examples(examples: dict[str, ModelProto]) -> None:
    draw = random.Random(5)
    odd = (0, -1, 1, 2, -2, 7, 2**31, 2**63 - 1, -(2**63))
    outcomes: set[bool] = set()
    models = list(examples.values())
    for _ in range(400):
        model = ModelProto()
        model.CopyFrom(draw.choice(models))
        node = draw.choice(model.graph.node)
        if node.attribute and draw.random() < 0.6:
            attribute = draw.choice(node.attribute)
            if attribute.ints:
                attribute.ints[draw.randrange(len(attribute.ints))] = draw.choice(odd)
            else:
                attribute.i = draw.choice(odd)
        if model.graph.input and draw.random() < 0.5:
            sizes = draw.choice(model.graph.input).type.tensor_type.shape.dim
            if sizes:
                draw.choice(sizes).dim_value = draw.choice(odd)
        if node.input and draw.random() < 0.2:
            node.input.pop()
        try:
            import_onnx_bytes(model.SerializeToString(), name="damaged")
        except GraphError as error:
            outcomes.add(str(error).startswith("damaged: "))
    assert outcomes == {True}
