"""Batches: a network times the images against the model read again with a batch of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from onnx import helper

from paretosoc.sdf.catalogue.catalogue import model_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.activations import held_activation_elements
from paretosoc.sdf.grouping.grouping import group_network, groups_from_parts
from paretosoc.sdf.grouping.groups import batched
from paretosoc.sdf.onnx.batch import model_of_batch
from paretosoc.sdf.onnx.importer import import_onnx_bytes
from tests.support.problems.onnx_models import integers, model, shape_only


@pytest.mark.parametrize("name", ["squeezenet", "mobilenet_v2", "resnet50", "densenet121"])
def test_a_batch_is_the_model_with_larger_inputs(name: str) -> None:
    file = model_file(name)
    single = group_network(
        import_onnx_bytes(file.data, name=name, folder=file.folder).graph, None, groups=5
    )
    data = model_of_batch(file.data, file.folder, 3)
    several = import_onnx_bytes(data, name=name, folder=file.folder)
    assert [shape[0] for _, shape in several.inputs] == [3]
    ours = batched(single, 3)
    place = {actor.name: index for index, actor in enumerate(several.graph.actors)}
    parts = [[place[layer.name] for layer in group.layers] for group in single.groups]
    theirs = groups_from_parts(several.graph, parts)
    assert theirs is not None
    assert ours.graph.channels == several.graph.channels
    assert max(held_activation_elements(ours.graph)) == 3 * max(
        held_activation_elements(single.graph)
    )
    assert len(ours.groups) == len(single.groups)
    own = {layer.name: layer for group in ours.groups for layer in group.layers}
    for actor in several.graph.actors:
        assert actor.layer is not None
        # A flattened tensor may have the batch in front in one export, and not in another.
        assert replace(own[actor.name], input_shapes=(), output_shapes=()) == replace(
            actor.layer, input_shapes=(), output_shapes=()
        )
    assert ours.edges == theirs.edges
    for one, other in zip(ours.groups, theirs.groups, strict=True):
        assert one.external_input_elements == other.external_input_elements
        assert one.external_output_elements == other.external_output_elements
    assert ours.groups[0].parameters == single.groups[0].parameters


def test_one_image_is_the_network_itself() -> None:
    network = group_network(
        import_onnx_bytes(model_file("squeezenet").data, name="n").graph, None, groups=2
    )
    assert batched(network, 1) is network
    assert model_of_batch(b"anything", None, 1) == b"anything"


def test_dynamic_batches_take_the_number() -> None:
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"], "gemm")]
    proto = model(nodes, {"x": ["batch", 4]}, ["y"], [shape_only("w", 4, 2)])
    data = model_of_batch(proto.SerializeToString(), None, 5)
    assert import_onnx_bytes(data, name="n").inputs == (("x", (5, 4)),)


def test_a_model_written_for_one_image_is_refused() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["flat"], "flatten"),
        helper.make_node("ReduceMax", ["flat"], ["y"], "most", axes=[0], keepdims=0),
    ]
    proto = model(nodes, {"x": [1, 4, 2]}, ["y"], [integers("shape", -1, 8)], opset=13)
    with pytest.raises(GraphError, match=r"a batch of 3: the tensor 'y' must have 3 times 8"):
        model_of_batch(proto.SerializeToString(), None, 3)
