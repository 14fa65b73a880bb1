"""What the user is warned of when networks are imported."""

from pathlib import Path

import pytest

from dse.problem.build import build_problem
from dse.workload.options import Options
from dse.workload.workload import workload_of
from platforms.io.platform_file import load_platform

XAVIER = load_platform("jetson-agx-xavier")
MODELS = Path(__file__).parents[2] / "data/models"


@pytest.mark.parametrize(("precision", "notes"), [("fp16", 1), ("int8", 0)])
def test_a_quantised_model_in_a_wider_format_is_noted(precision, notes):
    networks = [str(MODELS / "resnet18_qdq.onnx"), "squeezenet"]
    built = build_problem(workload_of(networks), XAVIER, Options(precision=precision))
    found = [text for text in built.warnings if text.endswith("use --precision int8")]
    assert len(found) == notes
    assert all(text.startswith("resnet18_qdq: ") for text in found)
