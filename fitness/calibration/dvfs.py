"""From measurements at a few clocks to parameters per network and unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement, point_table
from paretosoc.fitness.calibration.least_squares import (
    RESAMPLES,
    Fit,
    check_determined,
    fit,
    leave_one_out,
)
from paretosoc.fitness.cost_model.dvfs_forms import (
    Clocks,
    PowerForm,
    TimeForm,
    clocks_of,
    power_mw,
    power_parameters,
    time_ms,
    time_parameters,
)
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Platform

DEFAULT_NOISE = 0.01
"""Default relative standard error of a measurement."""
RICHEST_FIRST = (
    TimeForm.OVERLAP_STALL,
    TimeForm.OVERLAP_FITTED,
    TimeForm.OVERLAP,
    TimeForm.SHARES,
)
"""The forms to choose from; each later one has at most as many parameters."""


@dataclass(frozen=True)
class Calibrated:
    """What measurements of one network (or layer) on one unit say."""

    network: str
    layer: str
    unit: str
    time_form: TimeForm
    time_reason: str
    """Why this form; empty where the caller named it."""
    time: Fit
    power_form: PowerForm | None
    power: Fit | None


def subjects(
    rows: Sequence[ClockMeasurement],
) -> dict[tuple[str, str, str], list[ClockMeasurement]]:
    """(network, layer, unit) -> its rows, in the order in which they first come."""
    found: dict[tuple[str, str, str], list[ClockMeasurement]] = {}
    for row in rows:
        found.setdefault((row.network, row.layer, row.unit), []).append(row)
    return found


def calibrate_rows(
    rows: Sequence[ClockMeasurement],
    platform: Platform,
    *,
    time_form: TimeForm | None = None,
    power_form: PowerForm = PowerForm.VOLTAGE_CLOCK,
    fixed: bool = False,
    noise: float = DEFAULT_NOISE,
    resamples: int = RESAMPLES,
) -> Calibrated:
    """Fits the rows of one subject; power only where some row has power or energy.

    Args:
        time_form: None takes the one of :func:`choose_form`.

    Raises:
        PlatformError: where a parameter cannot be determined, or there is no time at all.
    """
    label = subject_name(rows[0])
    timed = _timed(rows, label)
    reason = ""
    if time_form is None:
        time_form, reason = choose_form(timed, platform, fixed=fixed)
    problem = _TimeProblem.of(timed, platform, time_form, fixed=fixed)
    time = fit(
        problem.names, problem.predict, problem.measured,
        held=problem.held, noise=noise, label=label, resamples=resamples,
    )  # fmt: skip
    time = replace(time, values=problem.parts(time.values), errors=problem.parts(time.errors))
    powered = [row for row in rows if row.mw is not None or row.mj is not None]
    if not powered:
        return Calibrated(*_names(rows), time_form, reason, time, None, None)
    power = _PowerProblem.of(powered, platform, power_form, time.values)
    found = fit(
        power.names, power.predict, power.measured, noise=noise, label=label, resamples=resamples
    )  # fmt: skip
    return Calibrated(*_names(rows), time_form, reason, time, power_form, found)


def choose_form(
    rows: Sequence[ClockMeasurement], platform: Platform, *, fixed: bool = False
) -> tuple[TimeForm, str]:
    """The form for the times of one subject, and why.

    Of the forms that the times determine, the one with the least error of each time predicted from
    the others (root mean square). Where they are too few to do that with the richest form, that
    one. With a host ``overlap-stall`` precedes ``overlap-fitted``, which has as many parameters:
    only changes of the host's clock determine a stall (docs/papers/tang.md).

    Raises:
        PlatformError: where the times determine none.
    """
    label = subject_name(rows[0])
    forms = list(RICHEST_FIRST)
    unit = platform.unit_by_name[rows[0].unit]
    if unit.host is None:
        # Without a host it is the form overlap.
        forms.remove(TimeForm.OVERLAP_STALL)
    if fixed or not unit.clock_law.shares:
        forms.remove(TimeForm.SHARES)
    determined, passed_over = list[TimeForm](), ""
    for form in forms:
        try:
            _TimeProblem.of(rows, platform, form, fixed=fixed).check(label)
        except PlatformError as error:
            if form is forms[-1] and not determined:
                raise
            reason = str(error).removeprefix(f"{label}: ")
            if not determined:
                passed_over = passed_over or f"; not {form.value}: {reason}"
            continue
        determined.append(form)
    richest = determined[0]
    errors: dict[TimeForm, float] = {}
    for form in determined:
        try:
            found = time_errors(rows, platform, form, fixed=fixed)
        except PlatformError:
            continue
        errors[form] = float(np.sqrt((found**2).mean()))
    if richest not in errors or len(errors) == 1:
        return richest, f"the richest form that {len(rows)} times determine{passed_over}"
    best = min(errors, key=errors.__getitem__)
    listed = ", ".join(f"{form.value} {100 * error:.1f} %" for form, error in errors.items())
    return best, f"which predicts each of {len(rows)} times best from the others ({listed})"


def time_errors(
    rows: Sequence[ClockMeasurement], platform: Platform, form: TimeForm, *, fixed: bool = False
) -> FloatArray:
    """Relative errors of the times, each predicted from the others.

    Raises:
        PlatformError: where the others cannot determine a parameter.
    """
    label = subject_name(rows[0])
    problem = _TimeProblem.of(_timed(rows, label), platform, form, fixed=fixed)
    return leave_one_out(problem.names, problem.predict, problem.measured, problem.held, label)


def power_errors(
    rows: Sequence[ClockMeasurement], platform: Platform, form: PowerForm, times: dict[str, float]
) -> FloatArray:
    """The same for the powers; ``times``: parameters of the time.

    Raises:
        PlatformError: where the others cannot determine a parameter.
    """
    powered = [row for row in rows if row.mw is not None or row.mj is not None]
    problem = _PowerProblem.of(powered, platform, form, times)
    label = subject_name(rows[0])
    return leave_one_out(problem.names, problem.predict, problem.measured, {}, label)


def predicted(
    model: Calibrated, rows: Sequence[ClockMeasurement], platform: Platform
) -> tuple[FloatArray, FloatArray | None]:
    """[rows] milliseconds, and [rows] milliwatts where power was fitted."""
    clocks = _clocks(rows, platform)
    times = time_ms(model.time.values, clocks)
    if model.power is None or model.power_form is None:
        return times, None
    return times, power_mw(model.power.values, clocks, model.power_form, model.time.values)


def subject_name(row: ClockMeasurement) -> str:
    """``vgg19 on gpu``, ``layer fc6 of vgg19 on gpu``."""
    layer = f"layer {row.layer} of " if row.layer else ""
    return f"{layer}{row.network} on {row.unit}"


@dataclass(frozen=True, eq=False)
class _TimeProblem:
    names: tuple[str, ...]
    held: dict[str, float]
    shares: dict[str, float]
    """Parts of a time of 1 ms at the fastest clocks, for the form SHARES."""
    clocks: Clocks
    measured: FloatArray

    @staticmethod
    def of(
        rows: Sequence[ClockMeasurement], platform: Platform, form: TimeForm, *, fixed: bool
    ) -> _TimeProblem:
        unit = platform.unit_by_name[rows[0].unit]
        overlap = float(unit.clock_law.overlap)
        shares = {f"{part}_ms": float(share) for part, share in unit.clock_law.shares}
        if form is TimeForm.SHARES and not shares:
            raise PlatformError(
                f"{subject_name(rows[0])}: the form shares needs shares in the unit's clock_law, "
                "got none"
            )
        length = sum(share**overlap for share in shares.values()) ** (1 / overlap)
        return _TimeProblem(
            names=time_parameters(form, hosted=unit.host is not None, fixed=fixed),
            held={} if form is TimeForm.OVERLAP_FITTED else {"overlap": overlap},
            shares={name: share / length for name, share in shares.items()},
            clocks=_clocks(rows, platform),
            measured=np.array([row.ms for row in rows], dtype=np.float64),
        )

    def parts(self, values: dict[str, float]) -> dict[str, float]:
        """``values`` with a time at the fastest clocks replaced by its parts."""
        if "time_ms" not in values:
            return values
        others = {name: value for name, value in values.items() if name != "time_ms"}
        return others | {name: share * values["time_ms"] for name, share in self.shares.items()}

    def predict(self, values: dict[str, float]) -> FloatArray:
        return time_ms(self.parts(values), self.clocks)

    def check(self, label: str) -> None:
        """Accepts times that determine every parameter."""
        check_determined(self.names, self.predict, self.measured, self.held, label)


@dataclass(frozen=True, eq=False)
class _PowerProblem:
    names: tuple[str, ...]
    form: PowerForm
    clocks: Clocks
    times: dict[str, float]
    measured: FloatArray

    @staticmethod
    def of(
        rows: Sequence[ClockMeasurement],
        platform: Platform,
        form: PowerForm,
        times: dict[str, float],
    ) -> _PowerProblem:
        clocks = _clocks(rows, platform)
        modelled = time_ms(times, clocks)
        measured = [
            # mJ / ms = W.
            row.mw if row.mw is not None else 1000 * (row.mj or 0.0) / (row.ms or modelled[index])
            for index, row in enumerate(rows)
        ]
        hosted = platform.unit_by_name[rows[0].unit].host is not None
        return _PowerProblem(
            names=power_parameters(form, hosted=hosted),
            form=form,
            clocks=clocks,
            times=times,
            measured=np.array(measured, dtype=np.float64),
        )

    def predict(self, values: dict[str, float]) -> FloatArray:
        return power_mw(values, self.clocks, self.form, self.times)


def _timed(rows: Sequence[ClockMeasurement], label: str) -> list[ClockMeasurement]:
    timed = [row for row in rows if row.ms is not None]
    if not timed:
        raise PlatformError(f"{label}: at least one time (ms or fps) is required, got none")
    return timed


def _clocks(rows: Sequence[ClockMeasurement], platform: Platform) -> Clocks:
    return clocks_of(platform, platform.unit_by_name[rows[0].unit], point_table(list(rows)))


def _names(rows: Sequence[ClockMeasurement]) -> tuple[str, str, str]:
    return rows[0].network, rows[0].layer, rows[0].unit
