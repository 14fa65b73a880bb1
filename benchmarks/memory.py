"""Memory that a network takes, as objective and limit count it, against ONNX Runtime's.

Ten networks of the catalogue with random weights in fp32, one image. Counted are weights, and
activations by liveness. Measured is the largest resident set of a process that runs the network,
on one thread, over that of the same process before it loads it, when it has run a network of one
operator. Features that keep freed memory are off: ONNX Runtime's arena, and glibc's thresholds,
which grow with the tensors that a process has freed until it returns none (``mallopt`` holds them).
With glibc's own thresholds the resident set is that of the column beside it. Needs the extra
``host``, and Linux.

Usage: ``python -m benchmarks.memory [--json]``, about a minute.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness.report import Column, parser, show
from paretosoc.common.units import BYTES_PER_MB
from paretosoc.dse.tools.deploy.random_weights import give_random_weights
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.catalogue.catalogue import load_network, model_file
from paretosoc.sdf.grouping.activations import held_activation_elements
from paretosoc.sdf.grouping.network_view import layers_of
from paretosoc.sdf.onnx.parts import cut_model

NETWORKS = (
    *("alexnet", "densenet121", "googlenet", "inception_v4", "mobilenet_v1", "mobilenet_v2"),
    *("resnet18", "resnet50", "resnet101", "squeezenet"),
)
BYTES = 4
RUNS = 3
_THRESHOLDS = ((-3, 1 << 16), (-1, 1 << 17))
"""M_MMAP_THRESHOLD and M_TRIM_THRESHOLD: from 64 KB on an allocation is a mapping of its own, which
goes back when it is freed."""
COLUMNS = (
    Column("network", "network"),
    Column("weights_mb", "weights MB", ".1f"),
    Column("activations_mb", "activations MB", ".1f"),
    Column("predicted_mb", "predicted MB", ".1f"),
    Column("measured_mb", "measured MB", ".1f"),
    Column("error_percent", "error %", "+.1f"),
    Column("loaded_mb", "loaded MB", ".1f"),
    Column("kept_mb", "with what glibc keeps MB", ".1f"),
)


@dataclass(frozen=True)
class Row:
    """A network's memory."""

    network: str
    weights_mb: float
    activations_mb: float
    predicted_mb: float
    measured_mb: float
    error_percent: float
    loaded_mb: float
    """Between runs."""
    kept_mb: float


def measure(name: str) -> Row:
    """Measure one network."""
    network = load_network(name)
    weights = sum(layer.held_bytes(BYTES) for layer in layers_of(network.graph))
    activations = BYTES * max(held_activation_elements(network.graph))
    predicted = (weights + activations) / BYTES_PER_MB
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        _write(name, path)
        measured, loaded = _in_a_process(str(path), keeps=False)
        kept, _ = _in_a_process(str(path), keeps=True)
    return Row(
        network=name,
        weights_mb=weights / BYTES_PER_MB,
        activations_mb=activations / BYTES_PER_MB,
        predicted_mb=predicted,
        measured_mb=measured,
        error_percent=100 * (predicted / measured - 1),
        loaded_mb=loaded,
        kept_mb=kept,
    )


def _in_a_process(path: str, *, keeps: bool) -> tuple[float, float]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        largest, loaded = pool.submit(resident_bytes, path, keeps=keeps).result()
    return largest / BYTES_PER_MB, loaded / BYTES_PER_MB


def _write(name: str, path: Path) -> None:
    """Write the network with random weights."""
    file = model_file(name)
    layers = [actor.name for actor in load_network(name).graph.actors]
    (part,) = cut_model(file.data, file.folder, [layers], label=name)
    give_random_weights(part.model, part.weights, 0, name)
    path.write_bytes(part.model.SerializeToString())


def resident_bytes(path: str, *, keeps: bool) -> tuple[int, int]:
    """Return the bytes that a network's session adds to this process's resident set.

    They are the largest figure, and that between runs.

    Args:
        path: the model.
        keeps: glibc may keep freed memory.
    """
    from onnx import TensorProto, helper

    if not keeps:
        for parameter, size in _THRESHOLDS:
            ctypes.CDLL("libc.so.6").mallopt(parameter, size)
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    node = helper.make_node("Relu", ["x"], ["y"])
    graph = helper.make_graph([node], "one", value[:1], value[1:])
    opset = [helper.make_opsetid("", 17)]
    small = _run(helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString())
    before = _resident()
    session = _run(path)
    loaded = _resident() - before
    # From here on the largest resident set counts, without the memory of loading.
    Path("/proc/self/clear_refs").write_text("5")
    _run_frames(session)
    found = _status("VmHWM") - before
    del small, session
    return found, loaded


def _run(model: Any) -> Any:
    runtime = optional_import("onnxruntime", extra="host", purpose="measuring memory")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    _run_frames(session)
    return session


def _run_frames(session: Any) -> None:
    ones = {entry.name: np.ones(entry.shape, np.float32) for entry in session.get_inputs()}
    for _ in range(RUNS):
        session.run(None, ones)


def _resident() -> int:
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    return _status("VmRSS")


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text("utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith(f"{field}:"))
    return 1024 * int(line.split()[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    chosen = parser("benchmarks.memory", "Memory counted against resident sets.")
    options = chosen.parse_args(arguments)
    rows = [measure(name) for name in NETWORKS]
    errors = [abs(row.error_percent) for row in rows]
    kept = [abs(100 * (row.predicted_mb / row.kept_mb - 1)) for row in rows]
    tables = [row.loaded_mb - row.weights_mb for row in rows]
    show(
        "Memory of networks: counted, and resident in ONNX Runtime",
        COLUMNS,
        [asdict(row) for row in rows],
        as_json=options.json,
        notes=[
            f"Error: median {np.median(errors):.1f} %, largest {max(errors):.1f} %; against what "
            f"glibc keeps median {np.median(kept):.1f} %.",
            f"Loaded less weights: {min(tables):.1f} to {max(tables):.1f} MB.",
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
