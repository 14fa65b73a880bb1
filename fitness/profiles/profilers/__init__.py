"""Readers of the output of other tools: trtexec, ONNX Runtime, tegrastats, tables of runs."""
