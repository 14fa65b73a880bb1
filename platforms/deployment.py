"""Setting a board's clocks, and the names of its units in the tools that build for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Annotated

from paretosoc.common.documents.marks import Key
from paretosoc.platforms.source import Khz, Sourced, pairs

NAMED_BY_UNIT = ("tensorrt", "onnxruntime", "openvino", "rknn")
"""Fields of a deployment with an entry for each unit."""


class ControlKind(Enum):
    """The kinds of sysfs files that set a clock."""

    CPUFREQ = "cpufreq"
    """``scaling_min_freq``, ``scaling_max_freq``, ``scaling_available_frequencies``; kHz."""
    DEVFREQ = "devfreq"
    """``min_freq``, ``max_freq``, ``available_frequencies``; Hz."""
    BPMP = "bpmp"
    """``rate``, ``mrq_rate_locked``, ``min_rate``, ``max_rate``, and ``state`` if it is there; Hz.
    Locking keeps other clients of the firmware from changing the rate."""
    OVERRIDE = "override"
    """Tegra210's memory: ``clk_update_rate`` is written and ``clk_rate`` read, in Hz, within those
    of the bandwidth manager. ``clk_state`` 1 overrides that."""


@dataclass(frozen=True)
class ClockControl:
    """The folders in sysfs that set one clock domain."""

    domain: str
    kind: ControlKind
    nodes: tuple[tuple[str, ...], ...]
    """Every folder that has to be set, each with its paths in different releases."""
    source: Sourced
    online: tuple[str, ...] = ()
    """Files that take CPUs off line by 0 if the domain is off."""


@dataclass(frozen=True)
class ModeParameter:
    """The name of a clock domain in nvpmodel's file."""

    domain: str
    hertz: int
    """Hertz in one unit of its values: 1000 if they are kHz."""
    names: tuple[tuple[str, ...], ...]
    """One set of parameters for each of the spellings that releases have, the usual first."""
    has_minimum: bool
    """Whether ``MIN_FREQ`` can be set, too: without it, the clock is only capped."""


@dataclass(frozen=True)
class PowerMode:
    """A power mode that comes with the board."""

    number: Annotated[int, Key("id")]
    name: str
    cores: int
    """CPU cores on line."""
    tpc_mask: int
    """Bits of the GPU's clusters (TPC) that have no power."""
    caps_khz: Annotated[tuple[tuple[str, int | None], ...], pairs(Khz | None), Key("max_mhz")]
    """Domain to its cap, None: as fast as it goes, 0: off."""


@dataclass(frozen=True)
class PowerModes:
    """nvpmodel on a board."""

    tpcs: int
    """GPU clusters of the chip, those without power included."""
    parameters: tuple[ModeParameter, ...]
    modes: tuple[PowerMode, ...]
    """The first is without limits, or that of a platform in a mode."""
    settings: tuple[str, ...]
    """Lines of a mode that are no clocks, as the first mode has them: cores on line, the mask of
    GPU processors."""
    source: Sourced

    def shares(self, mode: PowerMode) -> dict[str, Fraction]:
        """Return the part of the processors of the first mode that are on line, by kind of unit."""
        first = self.modes[0]
        clusters = [self.tpcs - each.tpc_mask.bit_count() for each in (mode, first)]
        return {"cpu": Fraction(mode.cores, first.cores), "gpu": Fraction(*clusters)}


@dataclass(frozen=True)
class ExecutionProvider:
    """ONNX Runtime's name of a unit."""

    name: Annotated[str, Key("provider")]
    """``CUDAExecutionProvider``."""
    options: Annotated[tuple[tuple[str, str], ...], pairs(str)] = ()
    """Options of the provider."""
    session: Annotated[tuple[tuple[str, str], ...], pairs(str)] = ()
    """Entries of the session's configuration that the provider reads."""


@dataclass(frozen=True)
class Deployment:
    """The known facts of setting up a board."""

    controls: tuple[ClockControl, ...] = ()
    power_modes: PowerModes | None = None
    tensorrt: Annotated[tuple[tuple[str, int | None], ...], pairs(int | None)] = ()
    """Units that TensorRT builds for: None is the GPU, a number a DLA core."""
    tensorrt_versions: tuple[str, ...] = ()
    """In rising order, of each major version the first release that builds for these units."""
    onnxruntime: Annotated[tuple[tuple[str, ExecutionProvider], ...], pairs(ExecutionProvider)] = ()
    """Units that ONNX Runtime has a provider for."""
    openvino: Annotated[tuple[tuple[str, str], ...], pairs(str)] = ()
    """Units that OpenVINO has a device for: ``CPU``, ``GPU``, ``NPU``."""
    rknn: Annotated[tuple[tuple[str, str], ...], pairs(str)] = ()
    """Units that RKNN builds for, with their core masks: ``NPU_CORE_0``."""
    rknn_target: str | None = None
    """RKNN's name of the chip."""
    runtime: str | None = None
    """Default runtime of problems. None: no runtime."""
