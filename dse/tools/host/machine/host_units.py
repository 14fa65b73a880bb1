"""This machine: its cores, or groups of them, that processes are pinned to, and the energy counters
of its processor (RAPL)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paretosoc.results.deploy.sysfs_script import number_in
from paretosoc.results.errors import ResultError

POWERCAP = Path("/sys/class/powercap")
_NAME = re.compile(r"cpu([0-9]{1,4}(?:\.[0-9]{1,4})*)")


@dataclass(frozen=True)
class HostUnit:
    """Cores that run one group at a time."""

    cores: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return the name: ``cpu0``, or ``cpu0.1`` for two cores."""
        return "cpu" + ".".join(map(str, self.cores))


@dataclass(frozen=True)
class Host:
    """Processor and memory as the system reports them."""

    processor: str
    mhz: float
    energy_readable: bool
    """Whether the energy counters of the processor (RAPL) can be read."""


def free_cores() -> tuple[int, ...]:
    """Return the cores that this process may use.

    Raises:
        ResultError: if the system cannot pin processes to cores.
    """
    if not hasattr(os, "sched_getaffinity"):
        raise ResultError("pinning processes to cores needs Linux")
    return tuple(sorted(os.sched_getaffinity(0)))


def make_units(cores: Sequence[int], threads: int) -> tuple[HostUnit, ...]:
    """Return units of ``threads`` cores each, in order. Remaining cores are left out.

    Raises:
        ResultError: if there are not enough cores for one unit.
    """
    if threads < 1 or threads > len(cores):
        raise ResultError(
            f"--threads must be from 1 to the number of cores ({len(cores)}), got {threads}"
        )
    count = len(cores) // threads
    return tuple(HostUnit(tuple(cores[k * threads : (k + 1) * threads])) for k in range(count))


def unit_named(name: str) -> HostUnit:
    """Return the inverse of :attr:`HostUnit.name`, for cores of this machine.

    Raises:
        ResultError: if it is no such name, or a core is not there.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ResultError(
            f"unit {name!r}: is not one of this machine (cpu0, ...); explore a platform that "
            "'dse profile' made here"
        )
    cores = tuple(int(core) for core in match.group(1).split("."))
    free = free_cores()
    for core in cores:
        if core not in free:
            raise ResultError(
                f"unit {name!r}: core {core} is not there, or not free for this process "
                f"(free: {', '.join(map(str, free))})"
            )
    return HostUnit(cores)


def describe_host() -> Host:
    """Name and clock of the processor, as the system tells them."""
    fields: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    try:
        mhz = float(fields.get("cpu MHz", "1000"))
    except ValueError:
        mhz = 1000.0
    return Host(
        processor=fields.get("model name", "unknown processor"),
        mhz=round(min(max(mhz, 1.0), 100_000.0), 3),
        energy_readable=bool(read_counters()),
    )


def read_counters(root: Path = POWERCAP) -> dict[Path, int]:
    """Return microjoules by counter: packages only, since their parts are in them."""
    found = {}
    for folder in sorted(root.glob("*rapl:[0-9]*")):
        if folder.name.count(":") == 1 and (value := number_in(folder, "energy_uj")) is not None:
            found[folder] = value
    return found


def joules_since(before: Mapping[Path, int], root: Path = POWERCAP) -> float | None:
    """Return the energy since counters were read, or None if there are none or one has gone.

    A counter that has wrapped around once is counted on.
    """
    after = read_counters(root)
    if not before or set(after) != set(before):
        return None
    total = 0
    for folder, value in after.items():
        used = value - before[folder]
        if used < 0:
            used += number_in(folder, "max_energy_range_uj") or 0
        total += used
    return total / 1e6
