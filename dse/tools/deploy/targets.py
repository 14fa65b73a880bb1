"""Targets of a deployment."""

from __future__ import annotations

from enum import Enum


class Target(Enum):
    """Values are the names on the command line."""

    NVPMODEL = "nvpmodel"
    SYSFS = "sysfs"
    TRTEXEC = "trtexec"
    DEEPSTREAM = "deepstream"
    TRITON = "triton"
    ONNX = "onnx"
    ONNXRUNTIME = "onnxruntime"
    OPENVINO = "openvino"
    JSON = "json"
