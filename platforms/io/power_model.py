"""Sections of a platform file: voltages and powers of a ladder, given point by point or by the
stated models, and ``deployment``."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from paretosoc.platforms.deployment import Deployment, PowerModes
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.measurement_file import read_figures, require_distinct
from paretosoc.platforms.source import round_half_up

MAX_POWER_MW = 10_000_000
"""10 kW: no chip draws more."""


def voltages_mv(
    voltage: Mapping[str, Any], frequencies_khz: Sequence[int], where: str
) -> tuple[int | None, ...]:
    """Return the voltage of every point of a ladder, mV, or None if unknown.

    The model: flat at ``minimum_mv`` up to the knee, then a straight line to ``maximum_mv`` at the
    fastest point. Integer millivolts, rounded half up.

    Raises:
        PlatformError: if the number of voltages or their order is wrong.
    """
    if "unknown" in voltage:
        return (None,) * len(frequencies_khz)
    if "mv" in voltage:
        given: list[int] = voltage["mv"]
        if len(given) != len(frequencies_khz):
            raise PlatformError(
                f"{where}.mv must have one voltage per frequency ({len(frequencies_khz)}), "
                f"got {len(given)}"
            )
        for index in range(1, len(given)):
            if given[index] < given[index - 1]:
                raise PlatformError(
                    f"{where}.mv[{index}] must not be below the voltage before it "
                    f"({given[index - 1]}), got {given[index]}"
                )
        return tuple(given)
    model = voltage["model"]
    low, high = model["minimum_mv"], model["maximum_mv"]
    if high < low:
        raise PlatformError(
            f"{where}.model.maximum_mv must be at least minimum_mv ({low}), got {high}"
        )
    knee = Fraction(model["knee_mhz"]) * 1000
    top = frequencies_khz[-1]
    result: list[int | None] = []
    for frequency in frequencies_khz:
        above = max(Fraction(0), frequency - knee)
        result.append(round_half_up(low + (high - low) * (above / (top - knee) if above else 0)))
    return tuple(result)


def power_mw(
    curve: Mapping[str, Any],
    frequencies_khz: Sequence[int],
    voltages: Sequence[int | None],
    where: str,
) -> tuple[int, ...]:
    """Return the power of every point of a ladder, mW, rounded half up.

    The model: ``capacitance_nf`` x f x V^2 + ``leakage_mw_per_v`` x V + ``constant_mw``, with f in
    MHz and V in volts (nF x MHz x V^2 = mW).

    Raises:
        PlatformError: if the number of powers is wrong, a model needs a voltage that is unknown, or
            a power is absurd.
    """
    if "mw" in curve:
        if len(curve["mw"]) != len(frequencies_khz):
            raise PlatformError(
                f"{where}.mw must have one power per operating point ({len(frequencies_khz)}), "
                f"got {len(curve['mw'])}"
            )
        return tuple(round_half_up(Fraction(value)) for value in curve["mw"])
    capacitance = Fraction(curve.get("capacitance_nf", 0))
    leakage = Fraction(curve.get("leakage_mw_per_v", 0))
    constant = Fraction(curve.get("constant_mw", 0))
    result = []
    for frequency, millivolts in zip(frequencies_khz, voltages, strict=True):
        value = constant
        if capacitance or leakage:
            if millivolts is None:
                raise PlatformError(
                    f"{where} must be given point by point or by constant_mw alone where the "
                    "domain's voltages are unknown, got capacitance_nf or leakage_mw_per_v"
                )
            volts = Fraction(millivolts, 1000)
            value += capacitance * Fraction(frequency, 1000) * volts * volts + leakage * volts
        if value > MAX_POWER_MW:
            raise PlatformError(
                f"{where} must stay below {MAX_POWER_MW} mW, got {int(value)} mW "
                f"at {frequency / 1000:g} MHz"
            )
        result.append(round_half_up(value))
    return tuple(result)


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
    require_distinct([control.domain for control in controls], f"{here}.controls", "domain")
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
    require_distinct(named, f"{where}.parameters", "domain")
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
