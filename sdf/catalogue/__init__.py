"""Named networks: builders, the graphs of the onnx package, torchvision's layer tables.
:mod:`~sdf.catalogue.catalogue` is the entry."""
