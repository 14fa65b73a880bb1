"""Fit the parameters of networks on units to measurements at a few clocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.text import pluralize
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement, point_table
from paretosoc.fitness.calibration.least_squares import (
    RESAMPLES,
    Fit,
    Task,
    check_determined,
    fit,
    leave_one_out,
)
from paretosoc.fitness.calibration.shape import Run, Shape, estimated_shape
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
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.sdf.grouping.groups import GroupedNetwork

Form = TypeVar("Form", TimeForm, PowerForm)
DEFAULT_NOISE = 0.01
"""Default relative standard error of a measurement."""
RICHEST_FIRST = (
    TimeForm.OVERLAP_STALL,
    TimeForm.OVERLAP_FITTED,
    TimeForm.OVERLAP,
    TimeForm.SHARES,
)
"""The forms to choose from. Each later one has at most as many parameters."""
ShapeOf = Callable[[Sequence[ClockMeasurement]], Shape | None]
"""Gives the shape of a network by the fastest of the rows in a fit, None if it is not known."""


@dataclass(frozen=True)
class Calibrated:
    """Fits to the measurements of one network (or layer) on one unit."""

    network: str
    layer: str
    unit: str
    time_form: TimeForm
    time_reason: str
    """Reason for this form, empty if the caller named it."""
    time: Fit
    power_form: PowerForm | None
    power: Fit | None
    power_reason: str = ""
    """As ``time_reason``; empty without powers. Also says that a parameter is the platform's."""


def subjects(
    rows: Sequence[ClockMeasurement],
) -> dict[tuple[str, str, str], list[ClockMeasurement]]:
    """Map (network, layer, unit) to its rows, in the order in which they first come."""
    found: dict[tuple[str, str, str], list[ClockMeasurement]] = {}
    for row in rows:
        found.setdefault((row.network, row.layer, row.unit), []).append(row)
    return found


def subject_name(row: ClockMeasurement) -> str:
    """Return ``vgg19 on gpu``, or ``layer fc6 of vgg19 on gpu``."""
    layer = f"layer {row.layer} of " if row.layer else ""
    return f"{layer}{row.network} on {row.unit}"


def estimated_shapes(
    network: GroupedNetwork, platform: Platform, unit: Unit, precision: str, layer: str = ""
) -> ShapeOf:
    """Return what gives the shape of a network, or of the launch of a layer of it, by its estimate
    and the fastest of some rows."""

    @cache
    def after(run: ClockMeasurement | None) -> Shape | None:
        known = None if run is None else Run(run.ms or 0.0, _clocks([run], platform))
        return estimated_shape(network, platform, unit, precision, layer, known)

    def shape(rows: Sequence[ClockMeasurement]) -> Shape | None:
        timed = [row for row in rows if row.ms is not None]
        return after(min(timed, key=lambda row: row.ms or 0.0, default=None))

    return shape


def calibrate_rows(
    rows: Sequence[ClockMeasurement],
    platform: Platform,
    *,
    time_form: TimeForm | None = None,
    power_form: PowerForm | None = None,
    shape: ShapeOf | None = None,
    fixed: bool = False,
    noise: float = DEFAULT_NOISE,
    resamples: int = RESAMPLES,
) -> Calibrated:
    """Fit the rows of one subject. Power is fitted only if some row has power or energy.

    Args:
        time_form: None takes the one of :func:`choose_form`.
        power_form: None takes the one of :func:`choose_power_form`.
        shape: for the form SHARES. None: nothing is known of the network.

    Raises:
        PlatformError: if a parameter cannot be determined, or there is no time at all.
    """
    timed, reason = _timed(rows), ""
    if time_form is None:
        time_form, reason = choose_form(timed, platform, shape, fixed=fixed)
    task, parts = _time_task(timed, platform, time_form, _given(shape, timed), fixed=fixed)
    time = fit(task, noise=noise, resamples=resamples)
    time = replace(time, values=parts(time.values), errors=parts(time.errors))
    power, power_reason = None, ""
    if not any(map(_has_power, rows)):
        power_form = None
    else:
        if power_form is None:
            power_form, power_reason = choose_power_form(rows, platform, time.values)
        task = _power_task(rows, platform, power_form, time.values)
        if task.held:
            host = platform.unit_by_name[rows[0].unit].host
            power_reason += f"; host_mw is the platform's, as {host} has one clock here"
            power_reason = power_reason.removeprefix("; ")
        try:
            power = fit(task, noise=noise, resamples=resamples)
        except PlatformError as error:
            raise PlatformError(f"{error}; without mw and mj only times are fitted") from None
    subject = rows[0].network, rows[0].layer, rows[0].unit
    return Calibrated(*subject, time_form, reason, time, power_form, power, power_reason)


def choose_form(
    rows: Sequence[ClockMeasurement],
    platform: Platform,
    shape: ShapeOf | None = None,
    *,
    fixed: bool = False,
) -> tuple[TimeForm, str]:
    """Return the form for the times of one subject, and why.

    Of the forms that the times determine, it is the one with the least error of each time predicted
    from the others (root mean square), or the richest form if they are too few to do that with it.
    With a host ``overlap-stall`` precedes ``overlap-fitted``, which has as many parameters: only
    changes of the host's clock determine a stall (docs/papers/tang.md).

    Raises:
        PlatformError: if the times determine none.
    """
    forms = list(RICHEST_FIRST)
    unit = platform.unit_by_name[rows[0].unit]
    if unit.host is None:
        # Without a host it is the form overlap.
        forms.remove(TimeForm.OVERLAP_STALL)
    known = _given(shape, rows)
    if fixed or known is None:
        forms.remove(TimeForm.SHARES)
    determined, passed_over = list[TimeForm](), ""
    for form in forms:
        try:
            check_determined(_time_task(rows, platform, form, known, fixed=fixed)[0])
        except PlatformError as error:
            if form is forms[-1] and not determined:
                raise
            reason = str(error).removeprefix(f"{subject_name(rows[0])}: ")
            if not determined:
                passed_over = passed_over or f"; not {form.value}: {reason}"
            continue
        determined.append(form)
    richest = determined[0]
    errors, _ = _errors_of(
        determined, lambda form: time_errors(rows, platform, form, shape, fixed=fixed)
    )
    if richest not in errors or len(errors) == 1:
        return richest, (
            f"the richest form that {pluralize(len(rows), 'time')} determine"
            f"{'s' * (len(rows) == 1)}{passed_over}"
        )
    return _best(errors, f"{len(rows)} times")


def choose_power_form(
    rows: Sequence[ClockMeasurement], platform: Platform, times: dict[str, float]
) -> tuple[PowerForm, str]:
    """Return the form for the powers of one subject, and why.

    It is the one with the least error of each power predicted from the others (root mean square).
    A form that they cannot determine is not taken, since nothing says how far it is off. If there
    is none, it is the simplest.
    """
    errors, left_out = _errors_of(
        list(PowerForm), lambda form: power_errors(rows, platform, form, times)
    )
    count = pluralize(sum(map(_has_power, rows)), "power")
    without = "".join(f"; not {form.value}, which the others do not determine" for form in left_out)
    if not errors:
        return PowerForm.VOLTAGE, f"the simplest form, as {count} cannot be predicted from another"
    return _best(errors, count, without)


def _errors_of(
    forms: Sequence[Form], errors_of: Callable[[Form], FloatArray]
) -> tuple[dict[Form, float], list[Form]]:
    """Return the error of each form (root mean square), and the forms that have none."""
    errors, left_out = dict[Form, float](), list[Form]()
    for form in forms:
        try:
            errors[form] = float(np.sqrt((errors_of(form) ** 2).mean()))
        except PlatformError:
            left_out.append(form)
    return errors, left_out


def _best(errors: Mapping[Form, float], of: str, without: str = "") -> tuple[Form, str]:
    """Return the form with the least error, and why, in words."""
    listed = ", ".join(f"{form.value} {100 * error:.1f} %" for form, error in errors.items())
    why = f"which predicts each of {of} best from the others (root mean square: {listed}{without})"
    return min(errors, key=errors.__getitem__), why


def time_errors(
    rows: Sequence[ClockMeasurement],
    platform: Platform,
    form: TimeForm,
    shape: ShapeOf | None = None,
    *,
    fixed: bool = False,
) -> FloatArray:
    """Return relative errors of the times, each predicted from the others, by their shape.

    Raises:
        PlatformError: if the others cannot determine a parameter.
    """
    timed = _timed(rows)

    def without(place: int) -> Task:
        others = timed[:place] + timed[place + 1 :]
        known = _given(shape, others) if form is TimeForm.SHARES else None
        return _time_task(timed, platform, form, known, fixed=fixed)[0]

    return leave_one_out(len(timed), without)


def power_errors(
    rows: Sequence[ClockMeasurement], platform: Platform, form: PowerForm, times: dict[str, float]
) -> FloatArray:
    """Return the same for the powers. ``times``: parameters of the time.

    Raises:
        PlatformError: if the others cannot determine a parameter.
    """
    task = _power_task(rows, platform, form, times)
    return leave_one_out(len(task.measured), lambda _: task)


def predicted(
    model: Calibrated, rows: Sequence[ClockMeasurement], platform: Platform
) -> tuple[FloatArray, FloatArray | None]:
    """Return [rows] milliseconds, and [rows] milliwatts if power was fitted."""
    clocks = _clocks(rows, platform)
    times = time_ms(model.time.values, clocks)
    if model.power is None or model.power_form is None:
        return times, None
    return times, power_mw(model.power.values, clocks, model.power_form, model.time.values)


def _given(shape: ShapeOf | None, rows: Sequence[ClockMeasurement]) -> Shape | None:
    return None if shape is None else shape(rows)


def _time_task(
    rows: Sequence[ClockMeasurement],
    platform: Platform,
    form: TimeForm,
    shape: Shape | None,
    *,
    fixed: bool,
) -> tuple[Task, Callable[[dict[str, float]], dict[str, float]]]:
    """Return the task of fitting a time, and a function that completes its parameters: for SHARES
    by the parts of the time at the fastest clocks."""
    unit, label = platform.unit_by_name[rows[0].unit], subject_name(rows[0])
    overlap = float(unit.clock_law.overlap)
    if form is TimeForm.SHARES and shape is None:
        raise PlatformError(f"{label}: the form shares needs an estimate of the network, got none")
    clocks = _clocks(rows, platform)

    def parts(values: dict[str, float]) -> dict[str, float]:
        if "time_ms" not in values or shape is None:
            return values
        others = {name: value for name, value in values.items() if name != "time_ms"}
        return others | {
            name: part if name == "overlap" else part * values["time_ms"]
            for name, part in shape.items()
        }

    task = Task(
        names=time_parameters(form, hosted=unit.host is not None, fixed=fixed),
        predict=lambda values: time_ms(parts(values), clocks),
        measured=np.array([row.ms for row in rows], dtype=np.float64),
        label=label,
        held={} if form is TimeForm.OVERLAP_FITTED else {"overlap": overlap},
    )
    return task, parts


def _power_task(
    rows: Sequence[ClockMeasurement], platform: Platform, form: PowerForm, times: dict[str, float]
) -> Task:
    powered = [row for row in rows if _has_power(row)]
    clocks = _clocks(powered, platform)
    modelled = time_ms(times, clocks)
    unit = platform.unit_by_name[powered[0].unit]
    # At one clock of the host its part cannot be told from the constant one.
    is_held = unit.host is not None and len(set(clocks.host.tolist())) == 1
    measured = [
        # mJ / ms = W.
        row.mw if row.mw is not None else 1000 * (row.mj or 0.0) / (row.ms or modelled[index])
        for index, row in enumerate(powered)
    ]
    return Task(
        names=power_parameters(form, hosted=unit.host is not None and not is_held),
        predict=lambda values: power_mw(values, clocks, form, times),
        measured=np.array(measured, dtype=np.float64),
        label=subject_name(powered[0]),
        held={"host_mw": _host_mw(platform, unit)} if is_held else {},
    )


def _host_mw(platform: Platform, unit: Unit) -> float:
    """Return the parameter with which the host's power rises over its ladder as the platform's."""
    busy = unit.power[1].busy_mw
    slowest = clocks_of(platform, unit, np.zeros((1, len(unit.clocks)), dtype=np.int64))
    rise = busy[-1] - busy[0]
    return rise / (1.0 - float(slowest.host_v[0])) if rise else 0.0


def _has_power(row: ClockMeasurement) -> bool:
    return row.mw is not None or row.mj is not None


def _timed(rows: Sequence[ClockMeasurement]) -> list[ClockMeasurement]:
    timed = [row for row in rows if row.ms is not None]
    if not timed:
        raise PlatformError(
            f"{subject_name(rows[0])}: at least one time (ms or fps) is required, got none"
        )
    return timed


def _clocks(rows: Sequence[ClockMeasurement], platform: Platform) -> Clocks:
    return clocks_of(platform, platform.unit_by_name[rows[0].unit], point_table(list(rows)))
