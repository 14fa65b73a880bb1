"""Run the pieces of this folder on the board, one after the other, and print how long each takes.

    python run.py

Pieces on NPU cores run by rknn-toolkit-lite2 with the core mask of their unit, those on CPUs by
ONNX Runtime. Do not run a language model by RKLLM meanwhile: with both loaded, jobs of the NPU fail
("failed to submit").
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime
from rknnlite.api import RKNNLite

RUNS = 20
TYPES = {"bool": np.bool_, "uint8": np.uint8, "int8": np.int8, "int32": np.int32,
         "int64": np.int64, "float16": np.float16, "float": np.float32}  # fmt: skip


def loaded(folder: Path, part: Mapping[str, Any], device: str) -> Callable[[list[Any]], list[Any]]:
    """Return the function that runs a piece."""
    model = folder / part["file"]
    if device == "CPU":
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        names = [tensor["name"] for tensor in part["inputs"]]
        wanted = [tensor["name"] for tensor in part["outputs"]]
        return lambda values: session.run(wanted, dict(zip(names, values, strict=True)))
    rknn = RKNNLite()
    if rknn.load_rknn(str(model.with_suffix(".rknn"))):
        sys.exit(f"run.py: cannot load {model.stem}.rknn; convert.py makes it on a host")
    if rknn.init_runtime(core_mask=getattr(RKNNLite, device)):
        sys.exit(f"run.py: cannot run {model.stem}.rknn on {device}")
    return lambda values: rknn.inference(inputs=values, data_format="nchw")


def main() -> int:
    """Run the command. Return the exit status."""
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    for network in document["networks"]:
        rng, values = np.random.default_rng(0), dict[str, Any]()
        for part in network["segments"]:
            device = document["devices"][part["unit"]]
            run = loaded(folder, part, device)
            for tensor in part["inputs"]:
                kind = TYPES[tensor["type"]]
                made = rng.uniform(0, 1, tensor["shape"]).astype(kind)
                values.setdefault(tensor["name"], made)
            read, milliseconds = [values[tensor["name"]] for tensor in part["inputs"]], []
            for _ in range(RUNS):
                began = time.perf_counter()
                results = run(read)
                milliseconds.append(1000 * (time.perf_counter() - began))
            values.update(zip((t["name"] for t in part["outputs"]), results, strict=True))
            print(f"{part['file']} on {device}: {median(milliseconds):.3f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
