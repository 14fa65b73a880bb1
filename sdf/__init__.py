"""Networks as synchronous dataflow graphs: import from ONNX, grouping, analysis."""
