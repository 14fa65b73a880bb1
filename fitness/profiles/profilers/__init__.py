"""Readers of what other tools print: trtexec, ONNX Runtime, tegrastats, tables of runs."""
