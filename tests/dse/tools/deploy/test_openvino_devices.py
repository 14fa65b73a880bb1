"""``--to openvino`` on machines with an NPU, which computes in FP16: a stand-in for OpenVINO."""

import json
import os
import subprocess
import sys

import pytest

from paretosoc.results.deploy.scripts import script_text

STAND_IN = """
import numpy as np

class Model:
    inputs = ()
    def get_ordered_ops(self):
        return OPERATIONS

class Operation:
    def __init__(self, name):
        self.name = name
    def get_type_name(self):
        return self.name
    def get_friendly_name(self):
        return self.name
    get_name = get_friendly_name
    def input_values(self):
        return ()
    outputs = input_values
    def get_rt_info(self):
        return {}

class Core:
    hints = {}
    def read_model(self, path):
        if "unknown" in path:
            raise RuntimeError("Model wasn't fully converted.\\nNo rule for: Strange\\n\\n")
        return Model()
    def set_property(self, device, values):
        if device == "NPU":
            raise RuntimeError("Unsupported inference precision: f32")
        self.hints[device] = values
    def compile_model(self, model, target, values={}):
        assert "NPU" not in target or not values
        assert "GPU" not in target or self.hints["GPU"] == {"INFERENCE_PRECISION_HINT": "f32"}
        return lambda _: {
            0: np.array([1.0 + (ERROR if "HETERO" in target else 0), np.inf, np.nan])
        }
"""


@pytest.mark.parametrize(
    ("devices", "layers", "error", "right"),
    [
        (("GPU", "NPU"), 2, 1e-2, True),
        (("GPU", "NPU"), 2, 2e-2, False),
        (("GPU", "NPU"), 242, 0.08, True),
        (("GPU", "NPU"), 242, 0.3, False),
        (("GPU", "NPU"), 1_000_000, 0.3, False),
        (("GPU", "CPU"), 1_000_000, 1e-3, False),
        (("GPU", "CPU"), 2, 1e-6, True),
    ],
)
def test_results_may_differ_as_far_as_the_devices_round(tmp_path, devices, layers, error, right):
    ran = execute(tmp_path, devices, error, layers=layers)
    assert ran.stderr == ""
    assert ran.stdout.endswith("\nas planned\n" if right else "\nNOT as planned\n")
    assert ran.returncode == (not right)


@pytest.mark.parametrize(("operation", "right"), [("TopK", True), ("Add", False)])
def test_a_rounding_may_choose_others(tmp_path, operation, right):
    ran = execute(tmp_path, ("GPU", "NPU"), 0.5, operations=(operation,))
    assert (ran.stderr, ran.returncode) == ("", not right)


def test_a_model_that_openvino_does_not_read_is_an_error_in_a_line(tmp_path):
    ran = execute(tmp_path, ("GPU", "CPU"), 0.0, model="unknown.onnx")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "run.py: HETERO:GPU,CPU: No rule for: Strange\n"


def execute(folder, devices, error, model="one.onnx", layers=2, operations=()):
    for name, script in (("run.py", "run_affinities.py"), ("values.py", "values.py")):
        (folder / name).write_text(script_text(script))
    (folder / "openvino.py").write_text(
        STAND_IN + f"\nERROR = {error}\nOPERATIONS = [*map(Operation, {operations})]\n"
    )
    groups = [
        {"unit": unit, "layers": [f"{unit}{k}" for k in range(layers // 2)]} for unit in ("a", "b")
    ]
    document = {
        "devices": dict(zip(("a", "b"), devices, strict=True)),
        "networks": [
            {"name": "a task", "model": None, "groups": [{"unit": "a", "layers": None}]},
            {"name": "one", "model": model, "groups": groups},
        ],
    }
    (folder / "deployment.json").write_text(json.dumps(document))
    return subprocess.run(
        [sys.executable, str(folder / "run.py")],
        env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
