"""Writes the fully connected layers of AlexNet and VGG as networks of their own: memory-bound ones.

``python -m benchmarks.problems.fully_connected FOLDER`` makes ``alexnet_fc.onnx`` and
``vgg_fc.onnx``, for ``dse profile`` and ``dse measure fidelity``: beside each other they show
whether contention is predicted.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.catalogue.network_builder import NetworkBuilder

INPUTS = {"alexnet_fc": (256, 6, 6), "vgg_fc": (512, 7, 7)}
"""Output of the last pooling: channels, height, width."""


def fully_connected(name: str) -> bytes:
    """Return the model of one of ``INPUTS``, without weights."""
    net = NetworkBuilder(name, *INPUTS[name])
    x = net.input
    for number in (6, 7):
        x = net.dense(x, f"fc{number}", 4096, activation="Relu")
    return net.build(net.softmax(net.dense(x, "fc8", 1000), "prob"))


def main(arguments: list[str]) -> int:
    """Writes the files into the folder named."""
    if len(arguments) != 1:
        print("python -m benchmarks.problems.fully_connected FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in INPUTS:
        (folder / f"{name}.onnx").write_bytes(fully_connected(name))
    print(f"written to {folder}: {', '.join(f'{name}.onnx' for name in INPUTS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
