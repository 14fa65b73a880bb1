"""Least squares of a form against measurements, with error bars. Parameters that the measurements
cannot determine are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.platforms.errors import PlatformError

Predict = Callable[[dict[str, float]], FloatArray]

STARTS = 12
RESAMPLES = 60
MAX_OVERLAP = 64.0
"""A p-norm with this p is the largest part to within 2 %."""
MIN_SINGULAR = 1e-3
"""Below this share of the largest, a direction of the parameters changes no prediction."""
AT_BOUND = 1e-6
"""A parameter that is below this share of its usual size is at its lower bound."""
STEP = float(np.sqrt(np.finfo(np.float64).eps))
"""Relative step of a derivative, of parameters below 1 the step itself."""
LARGE_IN_DIRECTION = 0.05
"""A parameter with more than this of such a direction is named as undetermined."""


@dataclass(frozen=True, eq=False)
class Task:
    """Measurements [n] > 0 and the form that is fitted to them. All parameters are >= 0.

    ``names``: the free parameters. ``predict``: values of all parameters -> [n], or [k, n] if the
    free ones are [k, 1]. ``label`` starts messages. ``held``: values of parameters that are not
    free.
    """

    names: Sequence[str]
    predict: Predict
    measured: FloatArray
    label: str
    held: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Fit:
    """Result of a fit.

    ``errors``: one standard error of each free parameter, from refits of resampled measurements.
    ``residual``: root mean square of the relative errors at the measurements.
    """

    values: dict[str, float]
    errors: dict[str, float]
    residual: float
    measurements: int


def fit(task: Task, *, noise: float, resamples: int = RESAMPLES) -> Fit:
    """Fit the free parameters in relative terms.

    Args:
        noise: smallest relative standard error of a measurement. The residual counts if it is
            larger.
        resamples: number of refits that give the errors.

    Raises:
        PlatformError: if the measurements cannot determine a parameter, which is named.
    """
    check_determined(task)
    starts = _starts(task)
    best = _least_squares(task, starts, starts[0])
    values = task.held | dict(zip(task.names, best.tolist(), strict=True))
    residuals = np.log(task.predict(values) / task.measured)
    count = len(task.measured)
    freedom = count - len(task.names)
    spread = float(np.sqrt((residuals**2).sum() / freedom)) if freedom > 0 else 0.0
    rng = np.random.default_rng(0)
    refits = []
    for _ in range(resamples):
        drawn = task.predict(values) * np.exp(max(noise, spread) * rng.standard_normal(count))
        refits.append(_least_squares(replace(task, measured=drawn), [best], starts[0]))
    errors = np.std(refits, axis=0) if refits else np.zeros(len(task.names))
    return Fit(
        values=values,
        errors=dict(zip(task.names, errors.tolist(), strict=True)),
        residual=float(np.sqrt((residuals**2).mean())),
        measurements=count,
    )


def leave_one_out(count: int, without: Callable[[int], Task]) -> FloatArray:
    """Return [count]: relative error of each measurement, predicted by a fit to the others.

    ``without`` gives the task for the place that is left out: that of all measurements, but with
    nothing in it that comes from this one.

    Raises:
        PlatformError: if the others cannot determine a parameter.
    """
    errors = np.zeros(count)
    for left_out in range(count):
        task, kept = without(left_out), np.arange(count) != left_out

        def of_kept(
            values: dict[str, float], task: Task = task, kept: np.ndarray = kept
        ) -> FloatArray:
            part: FloatArray = task.predict(values)[..., kept]
            return part

        others = replace(task, predict=of_kept, measured=task.measured[kept])
        values = fit(others, noise=0.0, resamples=0).values
        errors[left_out] = task.predict(values)[left_out] / task.measured[left_out] - 1.0
    return errors


def check_determined(task: Task) -> None:
    """Check that the predictions change with every combination of the free parameters.

    The rank test: the derivatives of log(prediction) by log(parameter), at a point at which all
    parts matter, must have as many independent directions as there are parameters.

    Raises:
        PlatformError: naming the parameters of a direction that changes nothing.
    """
    names, held = task.names, task.held
    if len(task.measured) < len(names):
        raise PlatformError(
            f"{task.label}: {len(names)} parameters ({', '.join(names)}) need as many measurements "
            f"at least, got {len(task.measured)}"
        )
    # If all overlaps, one part alone counts at each point, but the test needs all of them.
    held = held | {"overlap": min(held["overlap"], 3.0)} if "overlap" in held else held
    inside = dict(zip(names, _starts(task)[0].tolist(), strict=True))
    columns = []
    for name in names:
        step = 1e-4 * inside[name]
        above, below = (
            np.log(task.predict(held | inside | {name: inside[name] + sign * step}))
            for sign in (1.0, -1.0)
        )
        columns.append((above - below) / 2e-4)
    _, singular, directions = np.linalg.svd(np.stack(columns, axis=1), full_matrices=True)
    rank = int((singular > MIN_SINGULAR * singular[0]).sum())
    if rank < len(names):
        weak = np.abs(directions[rank:]).max(axis=0) > LARGE_IN_DIRECTION
        undetermined = [name for name, there in zip(names, weak, strict=True) if there]
        raise PlatformError(
            f"{task.label}: these measurements cannot determine {' and '.join(undetermined)}: they "
            "change together, or nothing; measure at other clocks, or leave one out"
        )


def _starts(task: Task) -> list[FloatArray]:
    """Return points to begin from, the first with all parameters in play."""
    rng = np.random.default_rng(0)
    low, high = float(task.measured.min()), float(task.measured.max())
    usual = {
        "time_ms": low, "compute_ms": 0.5 * low, "memory_ms": 0.5 * low,
        "host_ms": 0.4 * low, "stall": 0.2, "fixed_ms": 0.1 * low, "overlap": 2.5,
        "static_mw": 0.5 * low, "own_mw": 0.4 * high, "clock_mw": 0.2 * high, "host_mw": 0.2 * high,
    }  # fmt: skip
    first = np.array([usual[name] for name in task.names])
    return [first, *(first * rng.uniform(0.1, 2.0, len(first)) for _ in range(STARTS - 1))]


def _least_squares(task: Task, starts: Sequence[FloatArray], usual: FloatArray) -> FloatArray:
    from scipy.optimize import least_squares

    low = np.array([1.0 if name == "overlap" else 0.0 for name in task.names])
    high = np.array([MAX_OVERLAP if name == "overlap" else np.inf for name in task.names])

    def residuals(point: FloatArray) -> FloatArray:
        free = point.tolist() if point.ndim == 1 else point.T[:, :, None]
        values = task.held | dict(zip(task.names, free, strict=True))
        result: FloatArray = np.log(np.maximum(task.predict(values), 1e-300) / task.measured)
        return result

    def slopes(point: FloatArray) -> FloatArray:
        # All steps in one prediction, where least_squares would ask for one after the other.
        steps = STEP * np.maximum(1.0, np.abs(point))
        steps = np.where(point + steps > high, -steps, steps)
        at = residuals(np.vstack([point, point + np.diag(steps)]))
        result: FloatArray = ((at[1:] - at[0]) / steps[:, None]).T
        return result

    found = [
        least_squares(
            residuals,
            np.clip(start, low + 1e-9, high),
            jac=slopes,
            bounds=(low, high),
            x_scale=usual,
        )
        for start in starts
    ]
    best: FloatArray = min(found, key=lambda result: float(result.cost)).x
    # A parameter that has run into its bound, but for rounding, is set to it.
    return np.where(best < AT_BOUND * usual, low, best)
