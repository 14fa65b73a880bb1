"""Logs of NVIDIA's tegrastats: one line per sample, with fields that may each be missing.

* ``EMC_FREQ 24%@2133``: the share of the memory controller's cycles in use, and its clock, which is
  left out without root rights.
* ``GR3D_FREQ 99%@1377`` or ``@[1300,1300]``: the GPU's load and clock.
* ``NVDLA0_FREQ @1600`` or ``NVDLA0 off``.
* ``CPU [12%@2265,off,...]``.
* Rails ``NAME now/mean`` in mW, with or without unit, since JetPack 7 with a third figure. The mean
  counts from the start of tegrastats, so only the first figure is of this sample.

``GPU@45C`` is a temperature and ``GPU 3571mW/1868mW`` a rail. -256C is a sensor that is off. ``NC``
is no rail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, median

from paretosoc.platforms.errors import PlatformError

_MAX_LINE = 10_000
"""Most characters of a line. The longest lines that boards print have a few hundred."""
_TOO_LONG = re.compile("[0-9]{10}")
"""No load, clock or power has so many digits, and sums of such numbers are no floats."""
_STAMP = re.compile(r"^[0-9][0-9]-[0-9][0-9]-[0-9]{4} [0-9][0-9]:[0-9][0-9]:[0-9][0-9] ")
_LOAD = re.compile(r"(EMC_FREQ|GR3D_FREQ) (?:([0-9]+)%)?(?:@(?:\[([0-9,]+)\]|([0-9]+)))?(?= |$)")
_DLA = re.compile(r"NVDLA([0-9])(?:_FREQ)? (?:@([0-9]+)|off)(?= |$)")
_CPU = re.compile(r"CPU \[([^\]]*)\](?= |$)")
_CORE = re.compile(r"([0-9]+)%@[0-9]+")
_RAIL = re.compile(
    r"(?<=\s)([A-Z][A-Z0-9_]*) ([0-9]+)(?:mW)?/([0-9]+)(?:mW)?(?:/[0-9]+(?:mW)?)?(?= |$)"
)
_NOT_A_RAIL = frozenset({"RAM", "SWAP", "IRAM", "NC"})
INSIDE_ANOTHER = frozenset({"VDDQ_VDD2_1V8AO"})
"""Rails of the AGX Orin that hang behind another one: not to be added."""
BOARD_RAILS = ("VDD_IN", "POM_5V_IN")
"""Rails at the input of a board (the second is Jetson Nano's), which hold all its other rails."""


@dataclass(frozen=True)
class Sample:
    """One line, with None for missing values. Loads are in percent, clocks in MHz."""

    emc_percent: int | None
    emc_mhz: int | None
    gpu_percent: int | None
    gpu_mhz: int | None
    dla_mhz: dict[int, int]
    """Clocks of the DLAs that are on."""
    cpu_percent: Fraction | None
    """Mean over the cores that are on."""
    rails_mw: dict[str, int]

    @property
    def board_mw(self) -> int | None:
        """Return the power of the board: its input, or the sum of rails outside each other."""
        for name in BOARD_RAILS:
            if name in self.rails_mw:
                return self.rails_mw[name]
        outside = [mw for name, mw in self.rails_mw.items() if name not in INSIDE_ANOTHER]
        return sum(outside) if outside else None


@dataclass(frozen=True)
class PowerLog:
    """The samples of a log of tegrastats or jtop, and ``warnings`` about unreadable lines."""

    samples: tuple[Sample, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Quantity:
    """Statistics of one quantity over the samples that have it."""

    name: str
    unit: str
    samples: int
    median: float
    mean: float
    least: float
    most: float


def parse_tegrastats(text: str, label: str) -> PowerLog:
    """Return the samples in a log's text. A line that is cut off at the end is left out.

    Raises:
        PlatformError: if there is no sample. The message begins with ``label``.
    """
    samples: list[Sample] = []
    warnings: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        body = _STAMP.sub("", line.strip())
        if not body:
            continue
        if not body.startswith("RAM ") or len(body) > _MAX_LINE or _TOO_LONG.search(body):
            warnings.append(f"line {number} is no sample; left out")
        elif (
            not line.endswith(("\n", "\r")) and samples and _width(body) < len(samples[-1].rails_mw)
        ):
            warnings.append(f"line {number}, the last one, is cut off; left out")
        else:
            samples.append(_sample(body))
    if not samples:
        raise PlatformError(f"{label}: must hold lines that tegrastats wrote, got none")
    return PowerLog(tuple(samples), tuple(warnings))


def _width(body: str) -> int:
    return len(_rails(body))


def _rails(body: str) -> dict[str, int]:
    return {
        found[1]: int(found[2]) for found in _RAIL.finditer(body) if found[1] not in _NOT_A_RAIL
    }


def _sample(body: str) -> Sample:
    loads: dict[str, tuple[int | None, int | None]] = {}
    for found in _LOAD.finditer(body):
        mhz = found[3].split(",")[0] if found[3] else found[4]
        loads[found[1]] = (int(found[2]) if found[2] else None, int(mhz) if mhz else None)
    emc = loads.get("EMC_FREQ", (None, None))
    gpu = loads.get("GR3D_FREQ", (None, None))
    cores = _CPU.search(body)
    busy = [int(load) for load in _CORE.findall(cores[1])] if cores else []
    return Sample(
        emc_percent=emc[0],
        emc_mhz=emc[1],
        gpu_percent=gpu[0],
        gpu_mhz=gpu[1],
        dla_mhz={int(found[1]): int(found[2]) for found in _DLA.finditer(body) if found[2]},
        cpu_percent=Fraction(sum(busy), len(busy)) if busy else None,
        rails_mw=_rails(body),
    )


def quantities(samples: Sequence[Sample]) -> list[Quantity]:
    """Return statistics of all quantities of the samples, loads and clocks first, then rails."""
    tables: list[tuple[str, str, Callable[[Sample], float | int | None]]] = [
        ("EMC load", "%", lambda sample: sample.emc_percent),
        ("EMC clock", "MHz", lambda sample: sample.emc_mhz),
        ("GPU load", "%", lambda sample: sample.gpu_percent),
        ("GPU clock", "MHz", lambda sample: sample.gpu_mhz),
        ("CPU load", "%", lambda s: None if s.cpu_percent is None else float(s.cpu_percent)),
    ]
    for dla in sorted({number for sample in samples for number in sample.dla_mhz}):
        tables.append((f"DLA {dla} clock", "MHz", lambda s, dla=dla: s.dla_mhz.get(dla)))  # type: ignore[misc]
    for rail in dict.fromkeys(name for sample in samples for name in sample.rails_mw):
        tables.append((rail, "mW", lambda s, rail=rail: s.rails_mw.get(rail)))  # type: ignore[misc]
    tables.append(("board", "mW", lambda sample: sample.board_mw))
    result = []
    for name, unit, get in tables:
        values = [value for sample in samples if (value := get(sample)) is not None]
        if values:
            result.append(
                Quantity(
                    name, unit, len(values), median(values), fmean(values), min(values), max(values)
                )
            )
    return result


def emc_percent(log: PowerLog, label: str) -> Fraction:
    """Return the memory controller's load: the median, which idle times at both ends do not move.

    Raises:
        PlatformError: if no sample has it.
    """
    values = [sample.emc_percent for sample in log.samples if sample.emc_percent is not None]
    if not values:
        raise PlatformError(f"{label}: must tell EMC_FREQ, got {len(log.samples)} lines without it")
    return Fraction(median(values))


def board_mw(log: PowerLog, label: str) -> Fraction:
    """Return the board's power in mW, the median of the samples.

    Raises:
        PlatformError: if no sample has a rail.
    """
    values = [mw for sample in log.samples if (mw := sample.board_mw) is not None]
    if not values:
        raise PlatformError(f"{label}: must have power rails, got {len(log.samples)} lines without")
    return Fraction(median(values))
