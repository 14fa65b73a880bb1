"""A stand-in for TensorRT and the CUDA runtime, which refuses what boards would do wrongly.

It checks the type of every argument, that an engine reads only what was written before in the same
frame, with an event between two streams, and that every queue keeps the order that the variable
STAND_IN_ORDER gives: a list of queues with their ``engines``. Streams have clocks of their own.
Engines are JSON: name, device, milliseconds, and tensors.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

__version__ = "10.3.0"
cudaStreamNonBlocking = 1
ORDER = json.loads(os.environ.get("STAND_IN_ORDER", "[]"))


class Refused(Exception):
    """The runner did what a board would do wrongly."""


def require(holds, words):
    if not holds:
        raise Refused(words)


def write_packages(folder):
    """Write packages that stand in for ``tensorrt`` and ``cuda.bindings``."""
    text = f"from {__name__} import *\n"
    (folder / "cuda" / "bindings").mkdir(parents=True)
    for name in ("cuda/__init__.py", "cuda/bindings/__init__.py"):
        (folder / name).touch()
    (folder / "cuda" / "bindings" / "runtime.py").write_text(text)
    (folder / "tensorrt.py").write_text(f"{text}from {__name__} import __version__\n")
    return os.pathsep.join((str(folder), str(Path(__file__).parents[2])))


# The CUDA runtime.


class cudaError_t(Enum):
    cudaSuccess = 0


OK = cudaError_t.cudaSuccess


@dataclass(eq=False)
class Clock:
    """What has happened before, and when."""

    done: set[int] = field(default_factory=set)
    ms: float = 0.0

    def wait(self, other):
        self.done |= other.done
        self.ms = max(self.ms, other.ms)


@dataclass(eq=False)
class Stream(Clock):
    number: int = 0

    def __int__(self):
        return self.number


@dataclass(eq=False)
class CudaEvent(Clock):
    record: int | None = None


@dataclass
class Block:
    """Memory: the engine that writes it, how often it was written, and who used it last."""

    size: int
    maker: str | None = None
    writes: int = 0
    last_write: int | None = None
    reads: set[int] = field(default_factory=set)


HOST, MEMORY, STREAMS = Clock(), dict[int, Block](), dict[int, Stream]()
operations = iter(range(1, 1 << 60))


def cudaMalloc(size):
    require(type(size) is int and size > 0, f"cudaMalloc: bytes, got {size!r}")
    address = 4096 * (1 + len(MEMORY))
    MEMORY[address] = Block(size)
    return OK, address


def cudaMemset(address, value, size):
    require(address in MEMORY and value == 0, "cudaMemset: memory of cudaMalloc is required")
    require(size <= MEMORY[address].size, "cudaMemset: beyond the end of the memory")
    return (OK,)


def cudaStreamCreateWithFlags(flags):
    require(flags == cudaStreamNonBlocking, "streams must not wait for the default stream")
    stream = Stream(number=77 + len(STREAMS))
    STREAMS[stream.number] = stream
    return OK, stream


def cudaEventCreate():
    return OK, CudaEvent()


def cudaEventRecord(event, stream):
    require(type(event) is CudaEvent and type(stream) is Stream, "cudaEventRecord: event, stream")
    stream.wait(HOST)
    event.record = next(operations)
    event.done, event.ms = stream.done | {event.record}, stream.ms
    return (OK,)


def cudaStreamWaitEvent(stream, event, flags):
    require(type(event) is CudaEvent and type(stream) is Stream, "cudaStreamWaitEvent: types")
    require(flags == 0, "cudaStreamWaitEvent: flags must be 0")
    require(event.record is not None, "a stream waits for an event that nobody recorded")
    require(event.record not in HOST.done, "a stream waits for an event of an earlier frame")
    stream.wait(event)
    return (OK,)


def cudaEventSynchronize(event):
    require(event.record is not None, "the host waits for an event that nobody recorded")
    HOST.wait(event)
    return (OK,)


def cudaStreamSynchronize(stream):
    require(type(stream) is Stream, "cudaStreamSynchronize: a stream")
    HOST.wait(stream)
    return (OK,)


def cudaEventElapsedTime(start, end):
    require(start.record in HOST.done, "elapsed time from an event that has not ended")
    require(end.done - {end.record} <= HOST.done, "elapsed time to an event that has not ended")
    HOST.done.add(end.record)
    return OK, end.ms - start.ms


# TensorRT.


class Logger:
    WARNING = 2

    def __init__(self, severity):
        require(severity == self.WARNING, "Logger: a severity")


def init_libnvinfer_plugins(logger, namespace):
    require(type(logger) is Logger and type(namespace) is str, "init_libnvinfer_plugins: types")
    return True


def volume(shape):
    return math.prod(shape)


@dataclass(frozen=True)
class DataType:
    itemsize: int


class Runtime:
    def __init__(self, logger):
        require(type(logger) is Logger, "Runtime: a logger is required")
        self.DLA_core = -1

    def deserialize_cuda_engine(self, data):
        require(type(data) is bytes, "deserialize_cuda_engine: bytes are required")
        document = json.loads(data)
        core = -1 if document["device"] == "GPU" else int(document["device"][3:])
        require(
            type(self.DLA_core) is int and self.DLA_core == core,
            f"{document['name']}: is for {document['device']}, DLA_core is {self.DLA_core}",
        )
        return Engine(document)


class Engine:
    def __init__(self, document):
        self.document = document
        self.num_io_tensors = len(document["tensors"])

    def get_tensor_name(self, k):
        require(type(k) is int, "get_tensor_name: a position is required")
        return list(self.document["tensors"])[k]

    def get_tensor_shape(self, name):
        return tuple(self.document["tensors"][name]["shape"])

    def get_tensor_dtype(self, name):
        return DataType(self.document["tensors"][name]["bytes"])

    def create_execution_context(self):
        return IExecutionContext(self)


class IExecutionContext:
    def __init__(self, engine):
        self.engine, self.addresses, self.runs = engine, {}, 0
        self.name = engine.document["name"]
        self.stream = None

    def set_tensor_address(self, name, address):
        require(type(name) is str and type(address) is int, "set_tensor_address: types")
        tensor = self.engine.document["tensors"][name]
        needed = volume(tensor["shape"]) * tensor["bytes"]
        require(address in MEMORY and MEMORY[address].size >= needed, f"{name}: too little memory")
        if tensor["is_output"]:
            MEMORY[address].maker = self.name
        self.addresses[name] = address
        return True

    def execute_async_v3(self, stream_handle):
        require(type(stream_handle) is int, "execute_async_v3: the handle of a stream is required")
        require(set(self.addresses) == set(self.engine.document["tensors"]), "tensors lack memory")
        stream = STREAMS[stream_handle]
        self._keep_order(stream)
        stream.wait(HOST)
        number = next(operations)
        for name, address in self.addresses.items():
            block = MEMORY[address]
            if self.engine.document["tensors"][name]["is_output"]:
                free = block.reads <= stream.done
                require(free, f"{self.name}: writes {name!r} while another engine may read it")
                block.writes, block.last_write, block.reads = block.writes + 1, number, set()
            elif block.maker is not None:
                written = block.writes == self.runs + 1 and block.last_write in stream.done
                require(written, f"{self.name}: reads {name!r} before {block.maker} has written it")
                block.reads.add(number)
        self.runs += 1
        stream.done.add(number)
        stream.ms += self.engine.document["milliseconds"]
        return True

    def _keep_order(self, stream):
        """Require that this is the next engine of its queue, in the queue's own stream."""
        (queue,) = [queue for queue in ORDER if self.name in queue["engines"]]
        require(queue.setdefault("stream", stream) is stream, f"{self.name}: is in another stream")
        others = [other.get("stream") for other in ORDER if other is not queue]
        require(stream not in others, f"{self.name}: is in the stream of another queue")
        place = queue.setdefault("place", 0)
        expected = queue["engines"][place % len(queue["engines"])]
        require(self.name == expected, f"{self.name}: runs, {expected} is the next of the order")
        queue["place"] = place + 1
