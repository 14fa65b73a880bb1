"""Packages that are imported when they are used."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

IMPORT = """
from paretosoc.results.io.optional import optional_import
optional_import("onnxruntime", extra="host", purpose="a test")
"""


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs ONNX Runtime")
def test_onnx_runtime_reports_to_nobody(tmp_path):
    """It would begin with an identifier among the temporary files."""
    own = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    own |= {"TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", IMPORT], env=own, check=True)
    assert not list(tmp_path.iterdir())
