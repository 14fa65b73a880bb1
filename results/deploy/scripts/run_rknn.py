"""Run the pieces of this folder on the board in planned order, and print the latencies of the
networks.

    python run.py [--frames N] [--warm-up N]

Pieces on NPU cores run by rknn-toolkit-lite2 with the core mask of their unit, those on CPUs by
ONNX Runtime. Do not run a language model by RKLLM meanwhile: with both loaded, jobs of the NPU fail
("failed to submit").
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import onnxruntime
    from rknnlite.api import RKNNLite
except ImportError as error:
    sys.exit(f"run.py: rknn-toolkit-lite2 and onnxruntime are required: {error}")

from paretosoc.results.deploy.scripts.frame_plan import frame_options, run_plan
from paretosoc.results.deploy.scripts.values import random_value, type_of


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
    parser = argparse.ArgumentParser(description="Run pieces in the planned order.")
    frame_options(parser)
    given = parser.parse_args()
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    networks, rng = document["networks"], np.random.default_rng(0)
    values: list[dict[str, Any]] = [{} for _ in networks]
    run_piece: dict[tuple[int, int], Callable[[list[Any]], list[Any]]] = {}

    def work(n: int, s: int) -> None:
        part, own = networks[n]["segments"][s], values[n]
        results = run_piece[n, s]([own[tensor["name"]] for tensor in part["inputs"]])
        own.update(zip((tensor["name"] for tensor in part["outputs"]), results, strict=True))

    for n, network in enumerate(networks):
        for s, part in enumerate(network["segments"]):
            device = document["devices"][part["unit"]]
            run_piece[n, s] = loaded(folder, part, device)
            for tensor in part["inputs"]:
                made = random_value(rng, tensor["shape"], type_of(tensor["type"]))
                values[n].setdefault(tensor["name"], made)
            work(n, s)
            print(f"{part['file']} on {device}")
    run_plan(document, work, given.warm_up, given.frames)
    return 0


if __name__ == "__main__":
    sys.exit(main())
