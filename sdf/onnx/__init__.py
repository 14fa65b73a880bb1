"""ONNX models as layers: file, shapes, constants, operators.

:mod:`~sdf.onnx.importer` is the entry. :mod:`~sdf.onnx.parts` cuts a model for deployment.
"""
