"""Memory that a network takes, as objective and limit count it, against ONNX Runtime's.

Ten networks of the catalogue with random weights in fp32, one image. Counted are weights, and
activations by liveness. Measured is the largest resident set of a process that runs the network,
on one thread, over that of the same process before it loads it, when it has run a network of one
operator. ONNX Runtime's arena, which keeps what was freed, is off. Needs the extra ``host``, and
Linux.

Usage: ``python -m benchmarks.memory [--json]``; about a minute.
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
from common.units import BYTES_PER_MB
from dse.tools.deploy.random_weights import give_random_weights
from results.io.optional import optional_import
from sdf.catalogue.catalogue import load_network, model_file
from sdf.grouping.activations import peak_activation_elements
from sdf.grouping.cuts import layers_of
from sdf.onnx.parts import cut_model

NETWORKS = (
    *("alexnet", "densenet121", "googlenet", "inception_v4", "mobilenet_v1", "mobilenet_v2"),
    *("resnet18", "resnet50", "resnet101", "squeezenet"),
)
BYTES = 4
RUNS = 3
COLUMNS = (
    Column("network", "network"),
    Column("weights_mb", "weights MB", ".1f"),
    Column("activations_mb", "activations MB", ".1f"),
    Column("predicted_mb", "predicted MB", ".1f"),
    Column("measured_mb", "measured MB", ".1f"),
    Column("error_percent", "error %", "+.1f"),
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


def measure(name: str) -> Row:
    """One network."""
    network = load_network(name)
    weights = sum(layer.parameter_bytes(BYTES) for layer in layers_of(network.graph))
    activations = BYTES * peak_activation_elements(network.graph)
    predicted = (weights + activations) / BYTES_PER_MB
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        _write(name, path)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            measured = pool.submit(resident_bytes, str(path)).result() / BYTES_PER_MB
    return Row(
        network=name,
        weights_mb=weights / BYTES_PER_MB,
        activations_mb=activations / BYTES_PER_MB,
        predicted_mb=predicted,
        measured_mb=measured,
        error_percent=100 * (predicted / measured - 1),
    )


def _write(name: str, path: Path) -> None:
    """The network with random weights."""
    file = model_file(name)
    layers = [actor.name for actor in load_network(name).graph.actors]
    (part,) = cut_model(file.data, file.folder, [layers], label=name)
    give_random_weights(part.model, part.weights, 0, name)
    path.write_bytes(part.model.SerializeToString())


def resident_bytes(path: str) -> int:
    """What a network's session adds to the resident set of this process."""
    from onnx import TensorProto, helper

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    node = helper.make_node("Relu", ["x"], ["y"])
    graph = helper.make_graph([node], "one", value[:1], value[1:])
    opset = [helper.make_opsetid("", 17)]
    small = _run(helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString())
    before = _resident()
    session = _run(path)
    _resident()
    # From here on the largest resident set counts, without what loading took.
    Path("/proc/self/clear_refs").write_text("5")
    _run_frames(session)
    found = _status("VmHWM") - before
    del small, session
    return found


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
    show(
        "Memory of networks: counted, and resident in ONNX Runtime",
        COLUMNS,
        [asdict(row) for row in rows],
        as_json=options.json,
        notes=[f"Error: median {np.median(errors):.1f} %, largest {max(errors):.1f} %."],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
