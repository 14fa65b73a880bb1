"""What a network loses where some of its layers run in another number format, measured by ONNX
Runtime."""
