"""``--to openvino`` on machines with an NPU, which computes in FP16: a stand-in for OpenVINO."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paretosoc.results.deploy import scripts

STAND_IN = """
import numpy as np

class Model:
    inputs = ()
    def get_ordered_ops(self):
        return ()

class Core:
    hints = {}
    def read_model(self, path):
        return Model()
    def set_property(self, device, values):
        if device == "NPU":
            raise RuntimeError("Unsupported inference precision: f32")
        self.hints[device] = values
    def compile_model(self, model, target, values={}):
        assert "NPU" not in target or not values
        assert "GPU" not in target or self.hints["GPU"] == {"INFERENCE_PRECISION_HINT": "f32"}
        return lambda _: {0: np.array([1.0 + (ERROR if "HETERO" in target else 0)])}
"""


@pytest.mark.parametrize(
    ("devices", "error", "right"),
    [
        (("GPU", "NPU"), 1e-3, True),
        (("GPU", "NPU"), 1e-2, False),
        (("GPU", "CPU"), 1e-3, False),
        (("GPU", "CPU"), 1e-6, True),
    ],
)
def test_results_may_differ_as_far_as_the_devices_round(tmp_path, devices, error, right):
    source = Path(scripts.__file__).parent / "run_affinities.py"
    shutil.copy(source, tmp_path / "run.py")
    (tmp_path / "openvino.py").write_text(STAND_IN + f"\nERROR = {error}\n")
    groups = [{"unit": unit, "layers": [unit]} for unit in ("a", "b")]
    document = {
        "devices": dict(zip(("a", "b"), devices, strict=True)),
        "networks": [{"name": "one", "model": "one.onnx", "groups": groups}],
    }
    (tmp_path / "deployment.json").write_text(json.dumps(document))
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "run.py")],
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.stderr == ""
    assert ran.stdout.endswith("\nas planned\n" if right else "\nNOT as planned\n")
    assert ran.returncode == (not right)
