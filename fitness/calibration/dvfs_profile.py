"""Fits over clocks as a profile file has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretosoc.fitness.calibration.dvfs import Calibrated
from paretosoc.fitness.calibration.least_squares import Fit
from paretosoc.fitness.cost_model.dvfs_forms import PowerForm, TimeForm
from paretosoc.fitness.cost_model.power import alone_idle_mw
from paretosoc.platforms.io.measurement_file import require_known
from paretosoc.platforms.platform import Platform

Document = dict[str, Any]


@dataclass(frozen=True)
class ClockProfile:
    """Time and power of a network, or of one of its layers, on a unit at any clocks."""

    network: str
    macs: int | None
    precision: str
    unit: str
    layer: str | None
    time_form: TimeForm
    time: dict[str, float]
    power_form: PowerForm | None
    power: dict[str, float]
    note: str
    """Origin of the profile."""
    time_residual: float = 0
    """Root mean square of the relative errors of the fit at its measurements. 0: not stated."""
    power_residual: float = 0


@dataclass(frozen=True)
class Subject:
    """A network whose measurements were fitted, by its own name."""

    network: str
    macs: int


def read_clock_profile(record: Mapping[str, Any], platform: Platform, where: str) -> ClockProfile:
    """Read one entry of ``models``.

    Raises:
        PlatformError: on a unit that the platform does not have.
    """
    require_known(record["unit"], platform.unit_by_name, "a unit", f"{where}.unit")
    power = record.get("power")
    return ClockProfile(
        network=record["network"],
        macs=None if record.get("macs") is None else int(record["macs"]),
        precision=record["precision"],
        unit=record["unit"],
        layer=record.get("layer"),
        time_form=TimeForm(record["time"]["form"]),
        time=_values(record["time"]),
        power_form=None if power is None else PowerForm(power["form"]),
        power={} if power is None else _values(power),
        note=f"{record['time']['form']} over clocks: {record['source']}",
        time_residual=_residual(record["time"]),
        power_residual=0 if power is None else _residual(power),
    )


def clock_profile_document(
    platform: Platform,
    results: Sequence[Calibrated],
    subjects: Mapping[str, Subject],
    *,
    precision: str,
    source: str,
) -> Document:
    """Return the profile of fits. ``subjects``: the networks by their names in the measurements.

    If power was fitted, ``board_mw`` is the share of the board in the smallest static power: less
    the idle power of all else that is on, at the slowest clocks.
    """
    document: Document = {
        "platform": platform.measured_name,
        "models": [
            {
                "network": subjects[result.network].network,
                "macs": subjects[result.network].macs,
                "precision": precision,
                "unit": result.unit,
                **({"layer": result.layer} if result.layer else {}),
                "time": _block(result.time_form.value, result.time),
                **(
                    {}
                    if result.power is None or result.power_form is None
                    else {"power": _block(result.power_form.value, result.power)}
                ),
                "source": source[:4000],
                "status": "measured",
            }
            for result in results
        ],
    }
    static = [
        result.power.values["static_mw"]
        - int(alone_idle_mw(platform, platform.unit_by_name[result.unit], 0)[..., -1].min())
        for result in results
        if result.power is not None
    ]
    if static:
        document["board_mw"] = max(0, int(np.floor(min(static))))
    return document


def _block(form: str, fit: Fit) -> Document:
    return {
        "form": form,
        "parameters": {
            name: {"value": _rounded(value), "error": _rounded(fit.errors.get(name, 0.0))}
            for name, value in fit.values.items()
        },
        "residual": _rounded(fit.residual),
        "measurements": fit.measurements,
    }


def _rounded(value: float) -> float:
    # Eight significant digits: more than any fit has.
    return float(f"{value:.8g}")


def _residual(block: Mapping[str, Any]) -> float:
    return float(block.get("residual", 0))


def _values(block: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(entry["value"]) for name, entry in block["parameters"].items()}
