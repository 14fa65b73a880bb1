"""NVIDIA's nvpmodel files: the parameters and power modes that a board's own file names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paretosoc.platforms.deployment import ModeParameter, PowerMode, PowerModes
from paretosoc.platforms.source import Source, Status
from paretosoc.results.errors import ResultError

_HEADER = re.compile(r"<\s*(PARAM|POWER_MODEL|PM_CONFIG|FAN_CONFIG)\b([^<>]*)>")
_FIELD = re.compile(r"(\w+)\s*=\s*(\S+)")
_UNLIMITED = (-1, 0)
"""Caps that are none: -1 is the largest integer, and a memory cap of 0 is none."""


@dataclass(frozen=True)
class ConfMode:
    """A power mode of a file: (parameter, argument, value) per line."""

    number: int
    name: str
    lines: list[tuple[str, str, str]]


@dataclass(frozen=True)
class NvpmodelConf:
    """The content of a file. ``parameters`` maps each name to its arguments."""

    parameters: dict[str, list[str]]
    modes: list[ConfMode]


def parse_nvpmodel_conf(text: str, label: str) -> NvpmodelConf:
    """Read a file of nvpmodel.

    Raises:
        ResultError: on a line that does not follow its grammar, or a file without a power mode. The
            message names the line.
    """
    parameters: dict[str, list[str]] = {}
    modes: list[ConfMode] = []
    arguments: list[str] | None = None
    mode: ConfMode | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        here = f"{label}: line {number}"
        if not line:
            continue
        header = _HEADER.fullmatch(line)
        words = line.split()
        if header is not None:
            fields, arguments, mode = dict(_FIELD.findall(header[2])), None, None
            if header[1] == "PARAM":
                arguments = parameters[_field(fields, "NAME", here)] = []
            elif header[1] == "POWER_MODEL":
                index = _integer(_field(fields, "ID", here), f"{here}: ID")
                mode = ConfMode(index, _field(fields, "NAME", here), [])
                modes.append(mode)
        elif mode is not None and len(words) == 3:
            mode.lines.append((words[0], words[1], words[2]))
        elif arguments is not None and len(words) == 2:
            arguments.append(words[0])
        else:
            raise ResultError(f"{here}: is neither a section nor a line of one: {line[:60]!r}")
    if not modes:
        raise ResultError(f"{label}: has no < POWER_MODEL ID=... NAME=... >")
    return NvpmodelConf(parameters, modes)


def _field(fields: dict[str, str], name: str, here: str) -> str:
    if name not in fields:
        raise ResultError(f"{here}: must have {name}=")
    return fields[name]


def _integer(text: str, here: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise ResultError(f"{here}: must be an integer, got {text!r}")
    return int(text)


def power_modes_of(conf: NvpmodelConf, known: PowerModes, label: str) -> PowerModes:
    """Return the power modes of a platform, with values of a board's own file.

    Args:
        known: the platform's power modes, with the domains that the parameters set.

    Raises:
        ResultError: if the file has no parameter for one of the domains, a value that is no
            integer, a mode without a GPU, or no mode without caps.
    """
    parameters = tuple(_spelled(parameter, conf, label) for parameter in known.parameters)
    clocks = {name: p for p in parameters for name in p.names[0]}
    free = [
        mode for mode in conf.modes if all(cap is None for _, cap in _caps(mode, parameters, label))
    ]
    if not free:
        raise ResultError(f"{label}: has no power mode without caps, such as MAXN")
    own, first = known.modes[0], free[0]
    if any(cap is not None for _, cap in own.caps_khz):
        # The platform is in a mode.
        named = [mode for mode in conf.modes if mode.name == own.name]
        if not named:
            raise ResultError(f"{label}: has no power mode {own.name}")
        first = named[0]
    rest = [mode for mode in conf.modes if mode is not first]
    return PowerModes(
        tpcs=known.tpcs,
        parameters=parameters,
        modes=tuple(
            PowerMode(
                number=mode.number,
                name=mode.name,
                cores=_cores(mode),
                tpc_mask=_gpu_mask(mode, known.tpcs, label),
                caps_khz=_caps(mode, parameters, label),
            )
            for mode in (first, *rest)
        ),
        settings=tuple(" ".join(line) for line in first.lines if line[0] not in clocks),
        source=Source(Status.MEASURED, label),
    )


def _spelled(parameter: ModeParameter, conf: NvpmodelConf, label: str) -> ModeParameter:
    """Return the parameter with the spelling of the file."""
    for names in parameter.names:
        present = tuple(name for name in names if name in conf.parameters)
        if present:
            return ModeParameter(parameter.domain, parameter.hertz, (present,),
                                 parameter.has_minimum)  # fmt: skip
    spellings = " or ".join(dict.fromkeys(names[0] for names in parameter.names))
    raise ResultError(f"{label}: has no PARAM {spellings}, which would set {parameter.domain!r}")


def _caps(
    mode: ConfMode, parameters: tuple[ModeParameter, ...], label: str
) -> tuple[tuple[str, int | None], ...]:
    """Return each domain's cap, kHz. It is None without a limit, and 0 if a clock with a lower
    limit, too, is not named."""
    caps: list[tuple[str, int | None]] = []
    for parameter in parameters:
        values = [
            _integer(value, f"{label}: mode {mode.number}: {name} {argument}")
            for name, argument, value in mode.lines
            if name in parameter.names[0] and argument.startswith("MAX_FREQ")
        ]
        cap: int | None = None
        if values and not any(value in _UNLIMITED for value in values):
            cap = min(values) * parameter.hertz // 1000
        elif not values and parameter.has_minimum:
            cap = 0
        caps.append((parameter.domain, cap))
    return tuple(caps)


def _cores(mode: ConfMode) -> int:
    """Count the cores on line. CPU 0 always is, whether the file names it or not."""
    states = {core: value for name, core, value in mode.lines if name == "CPU_ONLINE"}
    states["CORE_0"] = "1"
    return sum(value == "1" for value in states.values())


def _gpu_mask(mode: ConfMode, tpcs: int, label: str) -> int:
    values = (value for _, name, value in mode.lines if name == "TPC_PG_MASK")
    here = f"{label}: mode {mode.number}: TPC_PG_MASK"
    mask = _integer(next(values, "0"), here)
    if mask < 0 or mask.bit_count() >= tpcs:
        raise ResultError(f"{here}: must leave one of {tpcs} GPU clusters with power, got {mask}")
    return mask
