"""Texts of others in messages of ours."""

import pytest

from paretosoc.common.text import reason_of


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "RuntimeError"),
        ("two\nlines", "two"),
        ("[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : no kernel for Conv", "no kernel for Conv"),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Load model from /tmp/x y/a.onnx failed:Type Error: "
            "Type parameter (T) of Optype (MatMul) bound to different types",
            "Type parameter (T) of Optype (MatMul) bound to different types",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Load model from a.onnx failed:/src/graph.cc:99 f(): "
            "[ShapeInferenceError] dimensions differ",
            "[ShapeInferenceError] dimensions differ",
        ),
    ],
)
def test_a_reason_is_one_line_without_the_place(text: str, reason: str) -> None:
    assert reason_of(RuntimeError(text)) == reason
