"""Voltages and powers of a ladder, either given point by point or by the stated models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from paretosoc.platforms.errors import PlatformError
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
