"""Networks that can be asked for by name: builders, the graphs of the onnx package, torchvision's
layer tables. :mod:`~sdf.catalogue.catalogue` is the entry.
"""
