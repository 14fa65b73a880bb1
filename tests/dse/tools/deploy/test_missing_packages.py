"""Scripts of deployments where Python has none of their packages: one line that names them."""

import subprocess
import sys

import pytest

from paretosoc.results.deploy.scripts import script_text


@pytest.mark.parametrize(
    ("script", "file", "packages"),
    [
        ("run_placement.py", "run.py", "onnxruntime is required"),
        ("run_affinities.py", "run.py", "openvino is required"),
        ("run_rknn.py", "run.py", "rknn-toolkit-lite2 and onnxruntime are required"),
        ("convert_rknn.py", "convert.py", "rknn-toolkit2 and onnxruntime are required"),
        ("run_tensorrt.py", "run.py", "tensorrt and cuda-python are required"),
    ],
)
def test_a_missing_package_is_named_in_a_line(tmp_path, script, file, packages):
    for name, source in ((file, script), *((n, n) for n in ("frame_plan.py", "values.py"))):
        (tmp_path / name).write_text(script_text(source))
    # Without site-packages.
    ran = subprocess.run(
        [sys.executable, "-S", str(tmp_path / file)], env={}, capture_output=True, text=True
    )
    module = "tensorrt" if "tensorrt" in packages else "numpy"
    assert ran.returncode == 1
    assert ran.stderr == f"{file}: {packages}: No module named '{module}'\n"
