"""Makes the model files beside it: ``python -m tests.data.models.make_models [NAME...]``.

Not run by the tests. Needs torch, torchvision, timm, transformers, ultralytics, onnxscript, onnx,
onnxruntime and onnxruntime-genai; downloads nothing. Networks are built from public configurations
with random weights, often with fewer blocks, and exported. ONNX Runtime runs every file once; the
shapes of all tensors in that run, not this project's importer, are what ``expected.json`` is
counted from (:mod:`tests.data.models.count_model`). Then the weights lose their values, so that
files are small.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from tests.data.models.count_model import count_model

# Makers register where they are imported.
from tests.data.models.makers import (  # noqa: F401
    control_flow,
    genai,
    runtime_tools,
    speech_and_text,
    vision,
)
from tests.data.models.makers.sources import SOURCES
from tests.data.models.makers.trim import without_branches, without_values

FOLDER = Path(__file__).parent
REFUSED = ("if_on_data", "loop", "scan")
"""Files whose work depends on the data, or that repeat a graph."""


def main(names: list[str]) -> None:
    """Makes the files named, or all."""
    warnings.filterwarnings("ignore")
    table_file = FOLDER / "expected.json"
    table = json.loads(table_file.read_text()) if table_file.exists() else {}
    for name in names or SOURCES:
        entry = SOURCES[name]
        torch.manual_seed(0)
        try:
            model = entry.make()
            row: dict[str, Any] = {"exporter": entry.exporter}
            if entry.dimensions:
                row["dimensions"] = entry.dimensions
            if name not in REFUSED:
                flat = without_branches(
                    entry.counted() if entry.counted else model, entry.dimensions
                )
                row |= count_model(flat, entry.dimensions, entry.feeds)
            small = without_values(model).SerializeToString(deterministic=True)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            continue
        (FOLDER / f"{name}.onnx").write_bytes(small)
        table[name] = row
        print(f"{name}: {len(model.graph.node)} nodes, {len(small)} bytes, {row}", flush=True)
        table_file.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
