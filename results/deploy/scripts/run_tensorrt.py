"""Run the engines of this folder in the planned order, and print the latencies of the networks.

    sh engines.sh build
    python run.py [--frames N] [--warm-up N]

Every queue of the plan is a CUDA stream: a unit, or a network on a GPU that networks share. A
stream waits for the events of the runs that its next engine reads from. Inputs are zeros. Needs
TensorRT from 8.5 on and cuda-python; with the package nvtx, nsys shows which engine launched what.
Not run on a board yet.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from paretosoc.results.deploy.scripts.frame_plan import (
    Document,
    Frame,
    frame_options,
    queues_of,
    run_frames,
    wait_until,
)

try:
    from nvtx import annotate
except ImportError:
    annotate = contextlib.nullcontext
try:
    import tensorrt as trt

    try:
        from cuda.bindings import runtime as cudart
    except ImportError:
        from cuda import cudart
except ImportError as error:
    sys.exit(f"run.py: tensorrt and cuda-python are required: {error}")


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the CUDA runtime. Return its result, and end the program if it fails."""
    error, *results = function(*arguments)
    if error != cudart.cudaError_t.cudaSuccess:
        sys.exit(f"run.py: {function.__name__}: {error}")
    return results[0] if results else None


def load_engine(runtime: Any, path: Path) -> tuple[Any, Any]:
    """Return an engine and its context."""
    try:
        engine = runtime.deserialize_cuda_engine(path.read_bytes())
    except FileNotFoundError:
        engine = None
    context = None if engine is None else engine.create_execution_context()
    if context is None:
        sys.exit(f"run.py: cannot load {path.name}; 'sh engines.sh build' makes it on this board")
    return engine, context


def bind_tensors(engine: Any, context: Any, memory: dict[str, tuple[int, int]]) -> None:
    """Give every input and output of an engine its memory.

    Args:
        memory: address and bytes of the network's tensors. New ones are added.
    """
    for k in range(engine.num_io_tensors):
        name = engine.get_tensor_name(k)
        shape = engine.get_tensor_shape(name)
        if min(shape, default=0) < 0:
            sys.exit(
                f"run.py: tensor {name!r}: has a size that depends on the data, which is not "
                "planned"
            )
        size = trt.volume(shape) * engine.get_tensor_dtype(name).itemsize
        if name not in memory:
            address = call(cudart.cudaMalloc, max(1, size))
            call(cudart.cudaMemset, address, 0, max(1, size))
            memory[name] = int(address), size
        address, held = memory[name]
        if held != size:
            sys.exit(f"run.py: tensor {name!r}: one engine has {held} bytes, another one {size}")
        if not context.set_tensor_address(name, address):
            sys.exit(f"run.py: tensor {name!r}: has no place in the engine")


def load_engines(document: Document, folder: Path) -> dict[tuple[int, int], Any]:
    """Return the engine and the context of every segment, by positions of network and segment.

    An engine outlives its context, and is kept beside it.
    """
    logger = trt.Logger(trt.Logger.WARNING)
    trt.init_libnvinfer_plugins(logger, "")
    loaded = {}
    for n, network in enumerate(document["networks"]):
        memory: dict[str, tuple[int, int]] = {}
        for s, part in enumerate(network["segments"]):
            device, runtime = document["devices"][part["unit"]], trt.Runtime(logger)
            if device != "GPU":
                runtime.DLA_core = int(device.removeprefix("DLA"))
            engine, context = load_engine(runtime, (folder / part["file"]).with_suffix(".engine"))
            bind_tensors(engine, context, memory)
            loaded[n, s] = runtime, engine, context
    return loaded


def stream_frame(document: Document, engines: Mapping[tuple[int, int], Any]) -> Frame:
    """Return the function that runs a frame.

    Everything is put into streams in the order of the plan: an event is recorded before a stream
    waits for it.
    """
    runs, queues = document["plan"]["runs"], queues_of(document)
    streams = {
        queue: call(cudart.cudaStreamCreateWithFlags, cudart.cudaStreamNonBlocking)
        for queue in queues
    }
    first, *others = streams.values()
    origin, *events = [call(cudart.cudaEventCreate) for _ in range(1 + len(runs))]

    def frame() -> list[int]:
        call(cudart.cudaEventRecord, origin, first)
        for stream in others:
            call(cudart.cudaStreamWaitEvent, stream, origin, 0)
        call(cudart.cudaEventSynchronize, origin)
        began = time.perf_counter_ns()
        for k, run in enumerate(runs):
            stream = streams[run["queue"]]
            wait_until(began + run["ready_ns"])
            for other in run["waits_for"]:
                if runs[other]["queue"] != run["queue"]:
                    call(cudart.cudaStreamWaitEvent, stream, events[other], 0)
            _, _, context = engines[run["network"], run["segment"]]
            part = document["networks"][run["network"]]["segments"][run["segment"]]
            with annotate(part["file"].removesuffix(".onnx")):
                if not context.execute_async_v3(int(stream)):
                    sys.exit(f"run.py: TensorRT does not take run {k} of the plan")
            call(cudart.cudaEventRecord, events[k], stream)
        for stream in streams.values():
            call(cudart.cudaStreamSynchronize, stream)
        return [round(1e6 * call(cudart.cudaEventElapsedTime, origin, event)) for event in events]

    return frame


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Run engines in the planned order.")
    frame_options(parser)
    given = parser.parse_args()
    if not hasattr(trt.IExecutionContext, "execute_async_v3"):
        sys.exit(f"run.py: TensorRT from 8.5 on is required, got {trt.__version__}")
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    frame = stream_frame(document, load_engines(document, folder))
    run_frames(document, frame, given.warm_up, given.frames)


if __name__ == "__main__":
    main()
