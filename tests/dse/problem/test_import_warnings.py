"""What the user is warned of when networks are imported."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from paretosoc.dse.api.problem import Problem
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.platforms.io.platform_file import load_platform

XAVIER = load_platform("jetson-agx-xavier")
MODELS = Path(__file__).parents[2] / "data/models"


@pytest.mark.parametrize(("precision", "notes"), [("fp16", 1), ("int8", 0)])
def test_a_quantised_model_in_a_wider_format_is_noted(precision, notes):
    networks = [str(MODELS / "resnet18_qdq.onnx"), "squeezenet"]
    built = build_problem(workload_of(networks), XAVIER, Options(precision=(precision,)))
    found = [text for text in built.warnings if text.endswith("use precision='int8'")]
    assert len(found) == notes
    assert all(text.startswith("resnet18_qdq: ") for text in found)


def test_a_dynamic_batch_is_told_by_the_names_of_the_workload(tmp_path):
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8])],
        )
    )
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    entries = [{"name": name, "network": "model.onnx", "copies": 2} for name in ("left", "right")]
    (tmp_path / "work.json").write_text(json.dumps({"networks": entries}))
    told = Problem(tmp_path / "work.json", "jetson-agx-xavier").warnings
    assert [text for text in told if "dynamic batch" in text] == [
        f"{name}: dynamic batch dimension taken as 1 (x)" for name in ("left", "right")
    ]


def test_groups_that_units_cannot_run_are_told_by_the_names_of_the_workload(tmp_path):
    entries = [{"name": name, "network": "shufflenet", "copies": 2} for name in ("left", "right")]
    (tmp_path / "work.json").write_text(json.dumps({"networks": entries}))
    told = Problem(tmp_path / "work.json", "jetson-agx-xavier", groups=4).warnings
    cannot = [text.partition(" cannot run")[0] for text in told if " cannot run " in text]
    assert cannot == ["left: dla0, dla1", "right: dla0, dla1"]
    assert not any("shufflenet" in text for text in told)


def test_losses_of_different_metrics_are_named_where_they_are_added_up(tmp_path):
    rows = ["network,layer,format,loss_ppm,metric", "alexnet,*,int8,5,noise"]
    path = tmp_path / "losses.csv"

    def warnings(metric, *objectives):
        path.write_text("\n".join([*rows, f"squeezenet,*,int8,5,{metric}"]) + "\n")
        problem = Problem(
            ["alexnet", "squeezenet"], "jetson-agx-orin", groups=2, precision="int8",
            losses=path, objectives=["latency", *objectives],
        )  # fmt: skip
        return [text for text in problem.warnings if text.startswith("losses.csv")]

    (warning,) = warnings("top1", "accuracy-loss")
    assert "different metrics (alexnet by noise, squeezenet by top1)" in warning
    assert warnings("noise", "accuracy-loss") == []
    assert warnings("", "accuracy-loss") == []
    assert warnings("top1", "accuracy-loss:alexnet") == []
    (unused,) = warnings("noise")
    assert unused.startswith(
        "losses.csv: not used, as neither the objective accuracy-loss nor max_"
    )


def test_units_without_the_number_format_and_misspelt_operations_are_named():
    dla = next(unit for unit in XAVIER.units if unit.name == "dla0")
    changed = replace(dla, unsupported_operations=("Sofmax", "Softmax", "com.microsoft.Gelu"))
    units = tuple(changed if unit is dla else unit for unit in XAVIER.units)
    options = Options(precision=("fp32",))
    built = build_problem(workload_of(["alexnet"]), replace(XAVIER, units=units), options)
    assert "dla0 computes in fp16 and int8, not in fp32: it runs nothing" in built.warnings
    misspelt = [text for text in built.warnings if "operation" in text]
    assert misspelt == ["dla0: no operation is called 'Sofmax'; did you mean Softmax?"]
    fp16 = build_problem(workload_of(["alexnet"]), XAVIER, Options())
    assert not [text for text in fp16.warnings if "runs nothing" in text]
