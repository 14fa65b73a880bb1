"""The section ``deployment`` of a platform file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from paretosoc.platforms.deployment import (
    ClockControl,
    ControlKind,
    Deployment,
    ExecutionProvider,
    ModeParameter,
    PowerMode,
    PowerModes,
)
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.measurement_file import integer_of, read_source


def read_deployment(
    entry: Mapping[str, Any] | None, domains: Iterable[str], units: Iterable[str]
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
    known = tuple(domains)
    controls = tuple(
        ClockControl(
            domain=control["domain"],
            kind=ControlKind(control["kind"]),
            nodes=tuple(tuple(paths) for paths in control["nodes"]),
            online=tuple(control.get("online", ())),
            source=read_source(control),
        )
        for control in entry["controls"]
        if control["domain"] in known
    )
    _check_distinct([control.domain for control in controls], f"{here}.controls")
    there = set(units)
    tensorrt = tuple(item for item in entry.get("tensorrt", {}).items() if item[0] in there)
    onnxruntime = tuple(
        (
            unit,
            ExecutionProvider(
                provider["provider"],
                tuple(provider.get("options", {}).items()),
                tuple(provider.get("session", {}).items()),
            ),
        )
        for unit, provider in entry.get("onnxruntime", {}).items()
        if unit in there
    )
    modes = entry.get("power_modes")
    return Deployment(
        controls=controls,
        power_modes=None if modes is None else _power_modes(modes, known, f"{here}.power_modes"),
        tensorrt=tensorrt,
        tensorrt_versions=tuple(entry.get("tensorrt_versions", ())),
        onnxruntime=onnxruntime,
        openvino=tuple(item for item in entry.get("openvino", {}).items() if item[0] in there),
        rknn=tuple(item for item in entry.get("rknn", {}).items() if item[0] in there),
        rknn_target=entry.get("rknn_target"),
        runtime=entry.get("runtime"),
    )


def _power_modes(entry: Mapping[str, Any], domains: tuple[str, ...], where: str) -> PowerModes:
    parameters = tuple(
        ModeParameter(
            domain=parameter["domain"],
            hertz=parameter["hertz"],
            names=tuple(tuple(names) for names in parameter["names"]),
            has_minimum=parameter["has_minimum"],
        )
        for parameter in entry["parameters"]
        if parameter["domain"] in domains
    )
    named = [parameter["domain"] for parameter in entry["parameters"]]
    _check_distinct(named, f"{where}.parameters")
    modes = []
    for index, mode in enumerate(entry["modes"]):
        here = f"{where}.modes[{index}].max_mhz"
        if set(mode["max_mhz"]) != set(named):
            raise PlatformError(
                f"{here} must have the domains of the parameters ({', '.join(named)}), "
                f"got {', '.join(mode['max_mhz'])}"
            )
        modes.append(
            PowerMode(
                number=mode["id"],
                name=mode["name"],
                cores=mode["cores"],
                all_gpu=mode["all_gpu"],
                caps_khz=tuple(
                    (
                        domain,
                        None if mhz is None else integer_of(mhz, 1000, f"{here}.{domain}", "kHz"),
                    )
                    for domain, mhz in mode["max_mhz"].items()
                    if domain in domains
                ),
            )
        )
    numbers = [mode.number for mode in modes]
    if len(set(numbers)) != len(numbers):
        raise PlatformError(f"{where}.modes must have distinct ids, got {numbers}")
    return PowerModes(parameters, tuple(modes), tuple(entry["settings"]), read_source(entry))


def _check_distinct(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PlatformError(f"{where} must have distinct domains, got {name!r} twice")
