"""Runtimes: one table of the units that each serves, how each of these takes its work, and the
rules for a network. Problems are built from it, and deployments are checked with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from paretosoc.results.problem.execution import ENGINE, GROUP, SHARED

if TYPE_CHECKING:
    from paretosoc.platforms.deployment import Deployment, ExecutionProvider
    from paretosoc.platforms.platform import Platform

Place: TypeAlias = "int | str | ExecutionProvider | None"
"""The runtime's name of a unit:  a DLA core, a device, a provider."""


class Runtime(Enum):
    """The software that runs the engines of a deployment, by its name in commands and files."""

    TRTEXEC = "trtexec"
    TRITON = "triton"
    DEEPSTREAM = "deepstream"
    ONNXRUNTIME = "onnxruntime"
    OPENVINO = "openvino"
    RKNN = "rknn"
    HOST = "host"
    NONE = "none"


@dataclass(frozen=True)
class RuntimeRules:
    """The units that one runtime serves, and the ways in which it runs them."""

    title: str
    places: Callable[[Platform], Mapping[str, Place]]
    """Units that it serves, with its own names of them."""
    shared_kinds: tuple[str, ...] = ()
    """Kinds of units on which all that is ready runs at once."""
    dispatch: str = ENGINE
    """How units of all other kinds take their work."""
    moving_kinds: tuple[str, ...] = ()
    """Kinds of units whose work transitions are: they reformat tensors for the others."""
    formats: tuple[str, ...] | None = None
    """Number formats of the runtime. None: all."""
    has_one_format: bool = False
    """Whether all groups have one number format."""
    has_one_engine: bool = False
    """Whether a network is one engine, on one batch of images."""
    one_place: Callable[[Place], str | None] = lambda place: None
    """Return the sort of a place if a network has at most one place of that sort."""

    def dispatch_of(self, kind: str) -> str:
        """Return how a unit of a kind takes its work."""
        return SHARED if kind in self.shared_kinds else self.dispatch

    def rivals(self, platform: Platform) -> dict[str, tuple[str, ...]]:
        """Return, for every unit that it serves, the units that a network cannot use beside it."""
        places = self.places(platform)
        return {
            unit: tuple(
                other
                for other, there in places.items()
                if there != place
                and self.one_place(place) is not None
                and self.one_place(there) == self.one_place(place)
            )
            for unit, place in places.items()
        }

    def served(self, platform: Platform) -> str:
        """Return the units that it serves, in words."""
        names = ", ".join(self.places(platform))
        return f"{self.title} serves {names or 'no unit'} of {platform.name}"

    def refusal(self, formats: tuple[str, ...]) -> str | None:
        """Return the reason why it cannot have these number formats, or None if it can."""
        for name in formats:
            if self.formats is not None and name not in self.formats:
                return (
                    f"{self.title} cannot serve the number format {name!r}; "
                    f"it has {', '.join(self.formats)}"
                )
        if self.has_one_format and len(formats) > 1:
            return (
                f"{self.title} has one number format for all groups, got "
                f"{', '.join(formats)}: trtexec and triton build an engine for each "
                "segment in its own"
            )
        return None


_SPECIAL = frozenset(",:*")
"""Letters that mean something in ``--layerDeviceTypes``."""
_MAX_ARGUMENT = 120_000
"""Bytes. Linux takes 131,072 in one argument."""


def layer_device_types(places: Iterable[tuple[str, str]]) -> str | None:
    """Return the value of trtexec's ``--layerDeviceTypes`` from names of layers and their devices,
    or None if the option cannot say them."""
    pairs = list(places)
    text = ",".join(f"{name}:{device}" for name, device in pairs)
    if len(text.encode()) > _MAX_ARGUMENT or any(_SPECIAL.intersection(name) for name, _ in pairs):
        return None
    return text


def _board(platform: Platform) -> Deployment:
    from paretosoc.platforms.deployment import Deployment

    return platform.deployment or Deployment()


def _tensorrt(platform: Platform) -> dict[str, Place]:
    return dict(_board(platform).tensorrt)


def _one_gpu(platform: Platform) -> dict[str, Place]:
    """Return the units of TensorRT that one process sees: of several GPU instances the first."""
    units = _tensorrt(platform)
    gpus = [name for name, core in units.items() if core is None]
    return {name: core for name, core in units.items() if core is not None or name == gpus[0]}


def _cpus(platform: Platform) -> dict[str, Place]:
    return {unit.name: "CPU" for unit in platform.units if unit.kind == "cpu"}


def _triton(platform: Platform) -> dict[str, Place]:
    return {**_cpus(platform), **_one_gpu(platform)}


def _openvino(platform: Platform) -> dict[str, Place]:
    """Return OpenVINO's devices: those of the platform, else by kind."""
    devices: dict[str, Place] = {
        unit.name: unit.kind.upper() if unit.kind in ("cpu", "gpu") else "NPU"
        for unit in platform.units
    }
    return devices | dict(_board(platform).openvino)


def _rknn(platform: Platform) -> dict[str, Place]:
    cores = _board(platform).rknn
    return {**_cpus(platform), **dict(cores)} if cores else {}


_FORMATS = ("fp32", "fp16", "int8")

RUNTIMES: dict[Runtime, RuntimeRules] = {
    Runtime.TRTEXEC: RuntimeRules(
        "TensorRT", _tensorrt, ("gpu",), moving_kinds=("gpu",), formats=_FORMATS
    ),
    # The rate limiter runs one model at a time on each resource.
    Runtime.TRITON: RuntimeRules("Triton", _triton, moving_kinds=("gpu",), formats=_FORMATS),
    # nvinfer runs one engine, with at most one DLA core.
    Runtime.DEEPSTREAM: RuntimeRules(
        "DeepStream",
        _one_gpu,
        ("gpu",),
        moving_kinds=("gpu",),
        formats=_FORMATS,
        has_one_format=True,
        has_one_engine=True,
        one_place=lambda place: None if place is None else "DLA",
    ),
    Runtime.ONNXRUNTIME: RuntimeRules(
        "ONNX Runtime",
        lambda platform: dict(_board(platform).onnxruntime),
        ("cpu", "gpu"),
        has_one_format=True,
    ),
    Runtime.OPENVINO: RuntimeRules("OpenVINO", _openvino, ("cpu", "gpu"), has_one_format=True),
    # CPUs run their pieces by ONNX Runtime.
    Runtime.RKNN: RuntimeRules("RKNN", _rknn, ("cpu",), formats=_FORMATS[1:]),
    Runtime.HOST: RuntimeRules("dse run", _cpus, dispatch=GROUP),
    Runtime.NONE: RuntimeRules(
        "any runtime", lambda platform: dict.fromkeys(platform.unit_by_name), dispatch=GROUP
    ),
}
"""Every runtime with its rules. The first ones are tried first if one is suggested."""


def usual_runtime(platform: Platform) -> Runtime:
    """Return the runtime that a platform's file names, else ``Runtime.NONE``."""
    name = platform.deployment and platform.deployment.runtime
    return Runtime(name or Runtime.NONE)


def runtimes_serving(platform: Platform, units: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the runtimes that serve all of these units."""
    return tuple(
        runtime.value
        for runtime, rules in RUNTIMES.items()
        if set(units) <= set(rules.places(platform))
    )
