"""ZigZag on the ResNet-18 and the TPU-like accelerator that come with it: how many loop orders of a
layer its cost model evaluates. Of several networks on the units of a chip it knows nothing.

Usage: ``python -m benchmarks.peers.programs.zigzag_layers``
"""

from __future__ import annotations

import importlib
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.peers.programs.answer import Answer, print_answer, silent, version_of

SECONDS = 20.0


class _Enough(Exception):
    """The time is up."""


def zigzag_answer() -> Answer:
    """Its ``get_hardware_performance_zigzag`` with settings as they are, at most some seconds."""
    api: Any = importlib.import_module("zigzag.api")
    stage: Any = importlib.import_module("zigzag.stages.evaluation.cost_model_evaluation")
    inputs = Path(str(importlib.import_module("zigzag").__path__[0])) / "inputs"
    evaluate = stage.CostModelStage.run
    evaluations = 0

    def counted(self: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        if time.process_time() - began > SECONDS:
            raise _Enough
        return evaluate(self)

    stage.CostModelStage.run = counted
    with silent() as folder, suppress(_Enough):
        began = time.process_time()
        api.get_hardware_performance_zigzag(
            workload=str(inputs / "workload/resnet18.onnx"),
            accelerator=str(inputs / "hardware/tpu_like.yaml"),
            mapping=str(inputs / "mapping/tpu_like.yaml"),
            dump_folder=folder,
            pickle_filename=f"{folder}/evaluations.pickle",
            loma_show_progress_bar=False,
        )
    seconds = time.process_time() - began
    return Answer(
        version=version_of("zigzag-dse"),
        evaluates="loop order of a layer",
        evaluations_per_second=evaluations / seconds,
    )


if __name__ == "__main__":
    print_answer(zigzag_answer())
