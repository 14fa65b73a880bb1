"""Models cut into parts: chained they give what the whole gives, and what differs is noticed."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from paretosoc.dse.tools.deploy.check_onnx import WrittenPart, check_equality
from paretosoc.dse.tools.deploy.random_weights import take_fillings
from paretosoc.results.errors import ResultError
from paretosoc.sdf.catalogue.catalogue import model_file
from paretosoc.sdf.catalogue.language_models import LanguageModel
from paretosoc.sdf.catalogue.transformer_builder import build
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.options import Grouping
from paretosoc.sdf.onnx.importer import import_onnx_bytes
from paretosoc.sdf.onnx.parts import cut_model, save_part


def written(data, folder, layers, target, dimensions=None):
    parts = cut_model(data, folder, layers, dimensions=dimensions)
    target.mkdir()
    result = []
    for k, part in enumerate(parts):
        save_part(part, target / f"{k}.onnx", folder)
        onnx.checker.check_model(str(target / f"{k}.onnx"))
        result.append(WrittenPart(part, target / f"{k}.onnx"))
    return result


def layers_by_group(data, folder=None, dimensions=None, **options):
    network = import_onnx_bytes(data, name="n", folder=folder, dimensions=dimensions)
    groups = group_network(network.graph, None, Grouping(**options)).groups
    return [[layer.name for layer in group.layers] for group in groups]


def one_by_one(data, folder=None):
    return [name for group in layers_by_group(data, folder, each_layer=True) for name in group]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("squeezenet", {}),
        ("squeezenet", {"each_layer": True}),
        ("inception_v1", {"branches": True}),
        ("resnet50", {"count": 6}),
        ("shufflenet", {"branches": True}),
        ("mobilenet_v2", {"count": 5}),
        ("densenet121", {"count": 4}),
    ],
)
def test_parts_of_the_catalogue(name, options, tmp_path):
    file = model_file(name)
    layers = layers_by_group(file.data, file.folder, **options)
    parts = written(file.data, file.folder, layers, tmp_path / "parts")
    assert len(parts) == len(layers) > 3
    found, _ = check_equality(file.data, file.folder, parts, label=name)
    assert found.largest_difference == 0
    assert found.tensors >= len(parts)
    assert found.random_weights > 10
    if "branches" in options or "each_layer" in options:
        # Branches cross the cuts: several tensors enter a part.
        assert max(len(part.part.inputs) for part in parts) > 1
    names = [node.name for part in parts for node in part.part.model.graph.node]
    assert {layer for group in layers for layer in group} <= set(names)


def test_a_decoder_behind_a_cache_runs_though_it_returns_new_positions_only(tmp_path):
    sizes = {"hidden": 8, "layers": 2, "heads": 2, "key_heads": 1, "head_size": 4, "inner": 8}
    data = build(LanguageModel("tiny", "", "", **sizes, vocabulary=16), 1, 6)
    parts = written(data, None, layers_by_group(data, count=3), tmp_path / "parts")
    found, _ = check_equality(data, None, parts, label="tiny")
    assert found.largest_difference == 0
    returned = {tensor.name: tensor.shape for part in parts for tensor in part.part.outputs}
    assert returned["layer1/key/rotated"] == (1, 1, 4)


def tangled_model(*, weight=True):
    """Two inputs, a dynamic batch, a result in the middle, a tensor that jumps over a part, a shape
    computed from an activation, a shared weight, nodes without names."""
    rng = np.random.default_rng(3)
    shared = numpy_helper.from_array(rng.normal(size=(4, 4)).astype(np.float32), "w")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4]) for name in ("x", "y")
    ]
    if not weight:
        inputs.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 4]))
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w"], ["a"]),
            helper.make_node("Relu", ["a"], ["b"], name="relu"),
            helper.make_node("Gemm", ["b", "w"], ["c"], name="relu"),
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Add", ["c", "y"], ["d"]),
            helper.make_node("Mul", ["d", "b"], ["e"]),
            helper.make_node("Reshape", ["e", "s"], ["f"]),
            helper.make_node("Sub", ["f", "x"], ["g"]),
        ],
        "tangled",
        inputs,
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("c", "g")],
        initializer=[shared] if weight else [],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_the_branch_of_an_if_can_be_cut(tmp_path):
    held = numpy_helper.from_array(np.array(2, np.int64), "rank")
    value = helper.make_tensor_value_info
    branch = helper.make_graph(
        [helper.make_node("Exp", ["a"], ["e"]), helper.make_node("Tanh", ["e"], ["t"])],
        "branch", [], [value("t", TensorProto.FLOAT, None)],
    )  # fmt: skip
    graph = helper.make_graph(
        [
            helper.make_node("Abs", ["x"], ["a"]),
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Size", ["shape"], ["size"]),
            helper.make_node("Equal", ["size", "rank"], ["flat"]),
            helper.make_node("If", ["flat"], ["b"], then_branch=branch, else_branch=branch),
            helper.make_node("Neg", ["b"], ["y"]),
        ],
        "chosen", [value("x", TensorProto.FLOAT, [2, 3])], [value("y", TensorProto.FLOAT, None)],
        [held],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    data = made.SerializeToString()
    layers = one_by_one(data)
    parts = written(data, None, [layers[:2], layers[2:]], tmp_path / "parts")
    found, _ = check_equality(data, None, parts, label="chosen")
    # The tensor between the parts is none of the given model, which has it inside the branch.
    assert (len(layers), found.tensors, found.largest_difference) == (4, 1, 0)


@pytest.mark.parametrize("weight", [True, False])
def test_a_model_with_everything_that_is_awkward(weight, tmp_path):
    data = tangled_model(weight=weight).SerializeToString()
    layers = one_by_one(data)
    assert len(layers) == 7
    for first, second in ((1, 3), (2, 5), (3, 6)):
        cuts = [layers[:first], layers[first:second], layers[second:]]
        parts = written(data, None, cuts, tmp_path / f"{first}{second}", {"batch": 3})
        found, _ = check_equality(data, None, parts, label="tangled")
        assert found.largest_difference == 0
        assert found.random_weights == (0 if weight else 1)
    last = parts[-1].part
    assert all(tensor.shape == (3, 4) for tensor in last.inputs)
    assert "Shape" not in {node.op_type for node in last.model.graph.node}


def test_data_in_other_files(tmp_path):
    model = tangled_model()
    big = numpy_helper.from_array(np.random.default_rng(0).normal(size=(4, 4)), "w")
    assert big.dims == [4, 4]
    wide = np.random.default_rng(0).normal(size=(4, 400)).astype(np.float32)
    back = np.random.default_rng(1).normal(size=(400, 4)).astype(np.float32)
    model.graph.initializer.extend(
        [numpy_helper.from_array(wide, "wide"), numpy_helper.from_array(back, "back")]
    )
    model.graph.node.extend(
        [
            helper.make_node("MatMul", ["g", "wide"], ["h"]),
            helper.make_node("MatMul", ["h", "back"], ["i"]),
        ]
    )
    model.graph.output.append(helper.make_tensor_value_info("i", TensorProto.FLOAT, None))
    home = tmp_path / "home"
    home.mkdir()
    onnx.save_model(
        model, str(home / "m.onnx"), save_as_external_data=True, location="m.bin",
        size_threshold=1024,
    )  # fmt: skip
    data = (home / "m.onnx").read_bytes()
    layers = one_by_one(data, home)
    cuts = [layers[:2], layers[2:-1], layers[-1:]]
    parts = written(data, home, cuts, tmp_path / "parts")
    modes = {(tmp_path / "parts" / name).stat().st_mode for name in ("1.onnx", "1.onnx.data")}
    assert len(modes) == 1
    assert not (tmp_path / "parts" / "0.onnx.data").exists()
    assert check_equality(data, home, parts, label="m")[0].largest_difference == 0
    (home / "m.bin").unlink()
    with pytest.raises(GraphError, match="data cannot be read"):
        save_part(parts[1].part, tmp_path / "again.onnx", home)


def test_parts_that_are_not_the_layers():
    data = tangled_model().SerializeToString()
    layers = one_by_one(data)
    for wrong in ([layers[:-1]], [layers, ["more"]], [layers, layers[:1]]):
        with pytest.raises(GraphError, match="the model is another one"):
            cut_model(data, None, wrong)
    with pytest.raises(GraphError, match="which a later part computes"):
        cut_model(data, None, [layers[3:], layers[:3]])


def test_a_changed_part_is_noticed(tmp_path):
    data = tangled_model().SerializeToString()
    layers = one_by_one(data)
    parts = written(data, None, [layers[:3], layers[3:]], tmp_path / "parts")
    model = onnx.load(str(parts[1].path))
    for node in model.graph.node:
        if node.op_type == "Sub":
            node.op_type = "Add"
    onnx.save(model, str(parts[1].path))
    with pytest.raises(ResultError, match="tensor 'g': the parts differ from the whole"):
        check_equality(data, None, parts, label="tangled")


def masked_model(result="s"):
    """Scores with a mask: infinite everywhere outside. ``rows`` is read for its shape alone,
    ``spare`` not at all."""
    value, node = helper.make_tensor_value_info, helper.make_node
    graph = helper.make_graph(
        [
            node("Shape", ["rows"], ["shape"]),
            node("Expand", ["x", "shape"], ["wide"]),
            node("Where", ["kept", "wide", "never"], ["masked"]),
            node("Softmax", ["masked"], ["s"], axis=1),
            node("Mul", ["wide", "never"], ["lost"]),
        ],
        "masked",
        [
            value("x", TensorProto.FLOAT, [1, 4]),
            value("rows", TensorProto.FLOAT, ["n", 4]),
            value("spare", TensorProto.INT64, ["n", "m"]),
        ],
        [value(result, TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.array([True, True, True, False]), "kept"),
            numpy_helper.from_array(np.float32(-np.inf), "never"),
        ],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def masked_parts(tmp_path, **options):
    data = masked_model(**options).SerializeToString()
    sizes = {"n": 3}
    layers = [n for g in layers_by_group(data, None, sizes, each_layer=True) for n in g]
    return data, written(data, None, [layers[:-1], layers[-1:]], tmp_path / "parts", sizes), sizes


def test_tensors_that_are_infinite_in_both_and_inputs_that_no_part_reads(tmp_path):
    data, parts, sizes = masked_parts(tmp_path)
    found, values = check_equality(data, None, parts, label="masked", dimensions=sizes)
    assert (found.tensors, found.largest_difference) == (2, 0)
    assert values["masked"].shape == (3, 4)
    assert np.isinf(values["masked"]).sum() == 3
    model = onnx.load(str(parts[0].path))
    for tensor in model.graph.initializer:
        if tensor.name == "kept":
            tensor.CopyFrom(numpy_helper.from_array(np.array([True, True, False, False]), "kept"))
    onnx.save(model, str(parts[0].path))
    with pytest.raises(ResultError, match=r"tensor 'masked': the parts differ .* by inf"):
        check_equality(data, None, parts, label="masked", dimensions=sizes)


def test_a_tensor_that_is_finite_nowhere_shows_nothing(tmp_path):
    data, parts, sizes = masked_parts(tmp_path, result="lost")
    words = r"tensor 'lost': has no finite value .* check=False skips this check"
    with pytest.raises(ResultError, match=words):
        check_equality(data, None, parts, label="masked", dimensions=sizes)


def test_parts_of_a_model_in_fp16_round_where_the_whole_need_not(tmp_path):
    """The CPU's kernels compute in FP32, and pairs of casts between two of them are left out."""
    rng = np.random.default_rng(0)
    nodes, weights = [], []
    for k in range(3):
        values = rng.normal(size=(16, 16, 3, 3)).astype(np.float16)
        weights.append(numpy_helper.from_array(values, f"w{k}"))
        nodes.append(helper.make_node("Conv", [f"x{k}", f"w{k}"], [f"x{k + 1}"], f"conv{k}"))
    x, y = (helper.make_tensor_value_info(f"x{k}", TensorProto.FLOAT16, [1, 16, n, n])
            for k, n in ((0, 16), (3, 10)))  # fmt: skip
    graph = helper.make_graph(nodes, "half", [x], [y], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = made.SerializeToString()
    parts = written(data, None, [["conv0"], ["conv1"], ["conv2"]], tmp_path / "parts")
    found, values = check_equality(data, None, parts, label="half")
    assert 1e-5 < found.largest_difference / np.abs(values["x3"].astype(float)).max() < 2e-3


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ResultError, match=r"pip install 'paretosoc\[deploy\]'"):
        check_equality(b"", None, [], label="none")


def test_fillings_of_types_that_numpy_lacks_stay() -> None:
    def filling(kind: int) -> onnx.NodeProto:
        value = helper.make_tensor("value", kind, [1], [0.0])
        return helper.make_node("ConstantOfShape", ["shape"], [str(kind)], value=value)

    shape = numpy_helper.from_array(np.array([2, 3]), "shape")
    nodes = [filling(kind) for kind in (TensorProto.FLOAT16, TensorProto.BFLOAT16)]
    model = helper.make_model(helper.make_graph(nodes, "g", [], [], [shape]))
    assert take_fillings(model) == [(str(TensorProto.FLOAT16), (2, 3), np.float16)]
    assert [node.output[0] for node in model.graph.node] == [str(TensorProto.BFLOAT16)]
