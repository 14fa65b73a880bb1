"""Loss of a network if some of its layers run in another number format, measured by ONNX
Runtime."""
