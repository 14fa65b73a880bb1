"""The section ``deployment`` of a platform file."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from paretosoc.platforms.deployment import Deployment, PowerModes
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.measurement_file import read_figures

T = TypeVar("T")


def read_deployment(
    entry: Mapping[str, Any] | None, domains: Container[str], units: Container[str]
) -> Deployment | None:
    """Return the section, or None if the file has none.

    Entries for domains and units that the platform does not have are left out, since a file that
    extends another one may have removed them.

    Raises:
        PlatformError: if a domain occurs twice, or power modes contradict themselves.
    """
    if entry is None:
        return None
    here = "deployment"
    found = read_figures(Deployment, entry, here)
    controls = tuple(control for control in found.controls if control.domain in domains)
    _check_distinct([control.domain for control in controls], f"{here}.controls")
    modes = found.power_modes
    return replace(
        found,
        controls=controls,
        power_modes=None if modes is None else _of_domains(modes, domains, f"{here}.power_modes"),
        tensorrt=_of(units, found.tensorrt),
        onnxruntime=_of(units, found.onnxruntime),
        openvino=_of(units, found.openvino),
        rknn=_of(units, found.rknn),
    )


def _of(names: Container[str], entries: tuple[tuple[str, T], ...]) -> tuple[tuple[str, T], ...]:
    return tuple(item for item in entries if item[0] in names)


def _of_domains(modes: PowerModes, domains: Container[str], where: str) -> PowerModes:
    named = [parameter.domain for parameter in modes.parameters]
    _check_distinct(named, f"{where}.parameters")
    for index, mode in enumerate(modes.modes):
        caps = dict(mode.caps_khz)
        if set(caps) != set(named):
            raise PlatformError(
                f"{where}.modes[{index}].max_mhz must have the domains of the parameters "
                f"({', '.join(named)}), got {', '.join(caps)}"
            )
    numbers = [mode.number for mode in modes.modes]
    if len(set(numbers)) != len(numbers):
        raise PlatformError(f"{where}.modes must have distinct ids, got {numbers}")
    return replace(
        modes,
        parameters=tuple(p for p in modes.parameters if p.domain in domains),
        modes=tuple(replace(mode, caps_khz=_of(domains, mode.caps_khz)) for mode in modes.modes),
    )


def _check_distinct(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PlatformError(f"{where} must have distinct domains, got {name!r} twice")
