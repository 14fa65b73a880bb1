"""Predictions against the measurements of Tang et al. (SAMOS'21), Table 2.

For each of the three networks a model is calibrated on five of the nine clock pairs (the corners
and the centre of CPU and GPU clock), and the other four are predicted. Beside them stand the
predictions of the paper's own model, which saw measurements at every clock. All forms of the model
are compared: on the rows held out, and with each of the nine pairs left out in turn.

No row is held out of the platform file itself: its GPU's voltages, which the energies read, were
fitted to powers of this table, and it does not say of which rows. So energies are predicted three
times: with the file's voltages, with their ratio fitted anew to the rows in the fit alone, and with
none. Each prediction is on all rows held out, and without those whose figures the file's sources
quote.

Usage: ``python -m benchmarks.accuracy.table2 [--json]``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.harness.report import Column, parser, show
from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.csv_table import read_table
from paretosoc.fitness.calibration.dvfs import (
    Calibrated,
    ShapeOf,
    calibrate_rows,
    choose_form,
    estimated_shapes,
    power_errors,
    predicted,
    time_errors,
)
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement
from paretosoc.fitness.cost_model.dvfs_forms import PowerForm, TimeForm, time_parameters
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.ladder import ladder_index
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

DATA = Path(__file__).parents[1] / "data" / "tang_table2.csv"
PLATFORM = "jetson-tx2"
CALIBRATED = (0, 2, 4, 6, 8)
"""Places among the nine pairs of a network: corners and centre."""
FED = {"vgg19": (6, 7, 8)}
"""Places of the rows whose figures the sources of the platform file quote: VGG-19's powers at 0.35
GHz (GPU's power)."""
RATIOS = tuple(round(1 + 0.04 * step, 2) for step in range(1, 16))
"""Ratios of the GPU's voltages at its fastest and slowest clock, to choose from."""
LIMITS = {"throughput_median": 0.06, "throughput_largest": 0.30, "energy_median": 0.10}
TIME_FORM, POWER_FORM = TimeForm.OVERLAP_STALL, PowerForm.VOLTAGE_CLOCK

WHERE = (
    Column("network", "network"),
    Column("cpu_mhz", "CPU MHz", ".0f"),
    Column("gpu_mhz", "GPU MHz", ".0f"),
    Column("used", "in fit"),
)
THROUGHPUT_COLUMNS = (
    *WHERE,
    Column("fps", "images/s", ".4g"),
    Column("predicted_fps", "model", ".4g"),
    Column("fps_error", "error", "+.1%"),
    Column("paper_fps_error", "paper's", "+.1%"),
)
ENERGY_COLUMNS = (
    *WHERE,
    Column("mj", "mJ/image", ".4g"),
    Column("predicted_mj", "model", ".4g"),
    Column("mj_error", "error", "+.1%"),
    Column("paper_mj_error", "paper's", "+.1%"),
)
FORM_COLUMNS = (
    Column("of", "of"),
    Column("form", "form"),
    Column("parameters", "free"),
    Column("held_out_median", "held out", ".1%"),
    Column("held_out_largest", "worst", ".1%"),
    Column("left_out_median", "in turn", ".1%"),
    Column("left_out_largest", "worst", ".1%"),
)
CURVE_COLUMNS = (
    Column("curve", "GPU voltages"),
    Column("ratio", "ratio", ".2f"),
    Column("form", "form"),
    Column("held_out_rows", "held out"),
    Column("held_out_median", "median", ".1%"),
    Column("held_out_largest", "worst", ".1%"),
    Column("unquoted_rows", "not quoted"),
    Column("unquoted_median", "median", ".1%"),
    Column("unquoted_largest", "worst", ".1%"),
)


@dataclass(frozen=True)
class Row:
    """One of the 27 rows. Errors are relative, and positive if too much is predicted."""

    network: str
    cpu_mhz: float
    gpu_mhz: float
    used: bool
    quoted: bool
    """By the platform file."""
    fps: float
    predicted_fps: float
    fps_error: float
    paper_fps_error: float
    mj: float
    predicted_mj: float
    mj_error: float
    paper_mj_error: float


@dataclass(frozen=True)
class FormError:
    """Errors of one form, as shares. None if the rows cannot determine it."""

    of: str
    form: str
    parameters: int
    held_out_median: float | None
    held_out_largest: float | None
    left_out_median: float | None
    left_out_largest: float | None


@dataclass(frozen=True)
class CurveError:
    """Errors of energies of rows held out with some voltages of the GPU, as shares: of all such
    rows, and without those that the platform file quotes.
    """

    curve: str
    ratio: float
    form: str
    held_out_rows: int
    held_out_median: float
    held_out_largest: float
    unquoted_rows: int
    unquoted_median: float
    unquoted_largest: float


@dataclass(frozen=True)
class Published:
    """A row of the paper's table: the measurement, and the prediction of the paper's model."""

    measurement: ClockMeasurement
    fps: float
    mj: float
    phi_fps: float
    phi_mj: float


@lru_cache(maxsize=1)
def published() -> dict[str, tuple[Published, ...]]:
    """Return each network's nine rows, in the paper's order."""
    platform = load_platform(PLATFORM)
    unit = platform.unit_by_name["gpu"]
    columns = ("network", "unit", "a57_mhz", "gpu_mhz", "fps", "mj", "phi_fps", "phi_mj")
    found: dict[str, list[Published]] = {}
    for row in read_table(DATA, columns):
        figures = {name: float(row.number(name) or 0) for name in columns[2:]}
        points = []
        for domain in unit.clocks:
            ladder = platform.domain_by_name[domain].operating_points
            megahertz = figures.get(f"{domain}_mhz")
            points.append(
                len(ladder) - 1
                if megahertz is None
                else ladder_index(platform.ladder_khz(domain), round(1000 * megahertz), row.where)
            )
        measurement = ClockMeasurement(
            network=row.cells["network"],
            layer="",
            unit="gpu",
            points=tuple(points),
            ms=float(1000 / (row.number("fps") or 1)),
            mw=None,
            mj=figures["mj"],
        )
        found.setdefault(measurement.network, []).append(
            Published(
                measurement, figures["fps"], figures["mj"], figures["phi_fps"], figures["phi_mj"]
            )
        )
    return {name: tuple(rows) for name, rows in found.items()}


def run(
    time_form: TimeForm = TIME_FORM,
    power_form: PowerForm = POWER_FORM,
    platform: Platform | None = None,
) -> list[Row]:
    """Return all 27 rows by models that were calibrated on five of each nine.

    Args:
        platform: with voltages of its own. None: as its file has them.

    Raises:
        PlatformError: if five rows cannot determine the form.
    """
    platform = platform or load_platform(PLATFORM)
    rows = []
    for network, nine in published().items():
        measurements = [entry.measurement for entry in nine]
        model = _calibrated(measurements, platform, time_form, power_form)
        times, powers = predicted(model, measurements, platform)
        assert powers is not None, "every row has an energy"
        for place, (entry, ms, mw) in enumerate(zip(nine, times, powers, strict=True)):
            fps, mj = 1000 / float(ms), float(ms * mw) / 1000
            gpu, cpu, _ = (
                platform.domain_by_name[name].operating_points[point].frequency_khz / 1000
                for name, point in zip(
                    platform.unit_by_name["gpu"].clocks, entry.measurement.points, strict=True
                )
            )
            rows.append(
                Row(
                    network=network,
                    cpu_mhz=cpu,
                    gpu_mhz=gpu,
                    used=place in CALIBRATED,
                    quoted=place in FED.get(network, ()),
                    fps=entry.fps,
                    predicted_fps=fps,
                    fps_error=fps / entry.fps - 1,
                    paper_fps_error=entry.phi_fps / entry.fps - 1,
                    mj=entry.mj,
                    predicted_mj=mj,
                    mj_error=mj / entry.mj - 1,
                    paper_mj_error=entry.phi_mj / entry.mj - 1,
                )
            )
    return rows


def _calibrated(
    nine: Sequence[ClockMeasurement],
    platform: Platform,
    time_form: TimeForm,
    power_form: PowerForm,
) -> Calibrated:
    five = [nine[place] for place in CALIBRATED]
    shape = _shape(five[0].network)
    return calibrate_rows(
        five, platform, time_form=time_form, power_form=power_form, shape=shape, resamples=0
    )


@lru_cache
def _shape(network: str) -> ShapeOf:
    platform = load_platform(PLATFORM)
    grouped = group_network(load_network(network).graph, None, groups=1)
    return estimated_shapes(grouped, platform, platform.unit_by_name["gpu"], "fp32")


def summary(rows: Sequence[Row]) -> dict[str, float | bool]:
    """Return median and largest absolute errors of the rows held out, beside the paper's.

    The figures also say whether the limits are kept.
    """
    held = [row for row in rows if not row.used]
    figures: dict[str, float | bool] = {}
    for name, values in (
        ("throughput", [row.fps_error for row in held]),
        ("energy", [row.mj_error for row in held]),
        ("paper_throughput", [row.paper_fps_error for row in held]),
        ("paper_energy", [row.paper_mj_error for row in held]),
    ):
        figures[f"{name}_median"] = float(np.median(np.abs(values)))
        figures[f"{name}_largest"] = float(np.max(np.abs(values)))
    figures["fulfilled"] = all(figures[name] <= limit for name, limit in LIMITS.items())
    return figures


def with_ratio(platform: Platform, ratio: float) -> Platform:
    """Return the platform with another ratio of the GPU's highest to its lowest voltage.

    The relative place of each clock between them stays as it is, to a millivolt.
    """
    gpu = platform.domain_by_name["gpu"]
    volts = [point.voltage_mv or 0 for point in gpu.operating_points]
    low, high = volts[0], volts[-1]
    points = tuple(
        replace(point, voltage_mv=round(low * (1 + (ratio - 1) * (mv - low) / (high - low))))
        for point, mv in zip(gpu.operating_points, volts, strict=True)
    )
    return replace(
        platform,
        domains=tuple(
            replace(domain, operating_points=points) if domain is gpu else domain
            for domain in platform.domains
        ),
    )


def fitted_ratio() -> float:
    """Return the ratio with the least mean square of relative errors of power, on the rows in the
    fit.

    Of several equally good ones (to 1 in 1,000) it is the smallest.
    """
    platform = load_platform(PLATFORM)
    residuals = []
    for ratio in RATIOS:
        chip, errors = with_ratio(platform, ratio), []
        for nine in published().values():
            five = [nine[place].measurement for place in CALIBRATED]
            form, shape = _chosen_form(tuple(five)), _shape(five[0].network)
            model = calibrate_rows(
                five, chip, time_form=form, power_form=POWER_FORM, shape=shape, resamples=0
            )
            _, powers = predicted(model, five, chip)
            assert powers is not None, "every row has an energy"
            measured = [1000 * (row.mj or 0) / (row.ms or 1) for row in five]
            errors.append(powers / np.array(measured) - 1)
        residuals.append(float(np.sqrt(np.mean(np.concatenate(errors) ** 2))))
    return next(r for r, of in zip(RATIOS, residuals, strict=True) if of <= 1.001 * min(residuals))


@lru_cache
def _chosen_form(rows: tuple[ClockMeasurement, ...]) -> TimeForm:
    """Return the form of time, which no voltage changes."""
    return choose_form(rows, load_platform(PLATFORM), _shape(rows[0].network))[0]


def compare_curves() -> list[CurveError]:
    """Compare energies of the rows held out, by the source of the GPU's voltages."""
    platform = load_platform(PLATFORM)
    volts = [point.voltage_mv or 0 for point in platform.domain_by_name["gpu"].operating_points]
    return [
        _curve_error("platform file", volts[-1] / volts[0], POWER_FORM),
        _curve_error("fitted to the rows in the fit", fitted_ratio(), POWER_FORM),
        # With one voltage its part and the clock's change together.
        _curve_error("one at all clocks", 1.0, PowerForm.VOLTAGE),
    ]


def _curve_error(curve: str, ratio: float, form: PowerForm) -> CurveError:
    chip = with_ratio(load_platform(PLATFORM), ratio)
    held = [row for row in run(TIME_FORM, form, chip) if not row.used]
    every = np.abs([row.mj_error for row in held])
    rest = np.abs([row.mj_error for row in held if not row.quoted])
    return CurveError(
        curve=curve,
        ratio=ratio,
        form=form.value,
        held_out_rows=len(every),
        held_out_median=float(np.median(every)),
        held_out_largest=float(every.max()),
        unquoted_rows=len(rest),
        unquoted_median=float(np.median(rest)),
        unquoted_largest=float(rest.max()),
    )


def compare_forms() -> list[FormError]:
    """Compare every form of time and of power (with the default form of time)."""
    return [
        *(_form_error("throughput", form, POWER_FORM) for form in TimeForm),
        *(_form_error("energy", TIME_FORM, form) for form in PowerForm),
    ]


def _form_error(of: str, time_form: TimeForm, power_form: PowerForm) -> FormError:
    platform = load_platform(PLATFORM)
    by_time = of == "throughput"
    rows = [row for row in run(time_form, power_form) if not row.used]
    held = np.abs([row.fps_error if by_time else row.mj_error for row in rows])
    left: list[FloatArray] = []
    parameters = 0
    try:
        for nine in published().values():
            measurements = [entry.measurement for entry in nine]
            shape = _shape(measurements[0].network)
            model = calibrate_rows(
                measurements,
                platform,
                time_form=time_form,
                power_form=power_form,
                shape=shape,
                resamples=0,
            )
            if by_time:
                # Errors of a throughput, as everywhere here, not of its inverse.
                errors = 1 / (1 + time_errors(measurements, platform, time_form, shape)) - 1
                parameters = len(time_parameters(time_form, hosted=True))
            else:
                errors = power_errors(measurements, platform, power_form, model.time.values)
                parameters = len(model.power.errors) if model.power is not None else 0
            left.append(errors)
    except PlatformError:
        left = []
    each = np.abs(np.concatenate(left)) if left else None
    return FormError(
        of=of,
        form=(time_form if by_time else power_form).value,
        parameters=parameters,
        held_out_median=float(np.median(held)),
        held_out_largest=float(held.max()),
        left_out_median=None if each is None else float(np.median(each)),
        left_out_largest=None if each is None else float(each.max()),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the rows, the comparison of forms, and the summary."""
    options = parser("benchmarks.accuracy.table2", "Table 2 of Tang et al., predicted.").parse_args(
        arguments
    )
    rows, forms, curves = run(), compare_forms(), compare_curves()
    figures = summary(rows)
    if options.json:
        document = {
            "rows": [asdict(row) for row in rows],
            "forms": [asdict(form) for form in forms],
            "curves": [asdict(curve) for curve in curves],
            "summary": figures,
        }
        json.dump(document, sys.stdout, indent=1)
        print()
        return
    for of, columns in (("throughput", THROUGHPUT_COLUMNS), ("energy", ENERGY_COLUMNS)):
        title = f"Table 2 of Tang et al., {of}: five clock pairs of each network in the fit"
        show(title, columns, [asdict(row) for row in rows], as_json=False)
    show("Forms of the model", FORM_COLUMNS, [asdict(form) for form in forms], as_json=False)
    show(
        "Energy of rows held out, by where the GPU's voltages are from",
        CURVE_COLUMNS,
        [asdict(curve) for curve in curves],
        as_json=False,
        notes=(
            "The platform file's voltages were fitted to this table, to which rows it does not "
            "say; only the other two have seen no row that is held out.",
            "held out, not quoted: numbers of rows; quoted are those whose figures the file's "
            "sources name.",
        ),
    )
    for of in ("throughput", "energy"):
        print(
            f"Held out, {of}: {figures[f'{of}_median']:.1%} in the median, "
            f"{figures[f'{of}_largest']:.1%} at worst; the paper's model, which saw every clock: "
            f"{figures[f'paper_{of}_median']:.1%} and {figures[f'paper_{of}_largest']:.1%}."
        )
    print(f"Within the limits asked for: {'yes' if figures['fulfilled'] else 'no'}.")


if __name__ == "__main__":
    main()
