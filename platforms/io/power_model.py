"""Sections of a platform file: voltages and powers of a ladder, given point by point or by the
stated models, and ``deployment``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from paretosoc.platforms.deployment import NAMED_BY_UNIT, Deployment, PowerModes
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.measurement_file import read_figures, require_distinct, require_known
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


def read_deployment(
    entry: Mapping[str, Any] | None, domains: Collection[str], units: Collection[str]
) -> Deployment | None:
    """Return the section, or None if the file has none.

    Raises:
        PlatformError: if it names a domain or unit that the platform does not have, or a domain
            occurs twice, or power modes contradict themselves.
    """
    if entry is None:
        return None
    found = read_figures(Deployment, entry, "deployment")
    _check_domains([control.domain for control in found.controls], domains, "controls")
    if found.power_modes is not None:
        _check_modes(found.power_modes, domains)
    for key in NAMED_BY_UNIT:
        for name, _ in getattr(found, key):
            require_known(name, units, "a unit", f"deployment.{key}")
    return found


def _check_domains(named: Sequence[str], domains: Collection[str], key: str) -> None:
    for index, name in enumerate(named):
        require_known(name, domains, "a domain", f"deployment.{key}[{index}].domain")
    require_distinct(named, f"deployment.{key}", "domain")


def _check_modes(modes: PowerModes, domains: Collection[str]) -> None:
    named = [parameter.domain for parameter in modes.parameters]
    _check_domains(named, domains, "power_modes.parameters")
    for index, mode in enumerate(modes.modes):
        caps = dict(mode.caps_khz)
        if set(caps) != set(named):
            raise PlatformError(
                f"deployment.power_modes.modes[{index}].max_mhz must have the domains of the "
                f"parameters ({', '.join(named)}), got {', '.join(caps)}"
            )
        if mode.tpc_mask.bit_count() >= modes.tpcs:
            raise PlatformError(
                f"deployment.power_modes.modes[{index}].tpc_mask must leave one of {modes.tpcs} "
                f"clusters with power, got {mode.tpc_mask}"
            )
    numbers = [mode.number for mode in modes.modes]
    if len(set(numbers)) != len(numbers):
        raise PlatformError(f"deployment.power_modes.modes must have distinct ids, got {numbers}")
