"""Least squares of a form against measurements, with error bars, and refusal of what the
measurements cannot determine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
LARGE_IN_DIRECTION = 0.05
"""A parameter with more than this of such a direction is named as undetermined."""


@dataclass(frozen=True)
class Fit:
    """What was fitted.

    ``errors``: one standard error of each free parameter, from refits of resampled measurements.
    ``residual``: root mean square of the relative errors at the measurements.
    """

    values: dict[str, float]
    errors: dict[str, float]
    residual: float
    measurements: int


def fit(
    names: Sequence[str],
    predict: Predict,
    measured: FloatArray,
    *,
    held: dict[str, float] | None = None,
    noise: float,
    label: str,
    resamples: int = RESAMPLES,
) -> Fit:
    """Fits ``names`` to ``measured`` [n] > 0 in relative terms; all parameters are >= 0.

    Args:
        predict: values of all parameters -> [n].
        held: parameters that are not free.
        noise: smallest relative standard error of a measurement; the residual counts where it is
            larger.
        label: starts messages.

    Raises:
        PlatformError: where the measurements cannot determine a parameter, which is named.
    """
    held = dict(held or {})
    check_determined(names, predict, measured, held, label)
    starts = _starts(names, measured)
    best = _least_squares(names, predict, measured, held, starts, starts[0])
    values = held | dict(zip(names, best.tolist(), strict=True))
    residuals = np.log(predict(values) / measured)
    freedom = len(measured) - len(names)
    spread = float(np.sqrt((residuals**2).sum() / freedom)) if freedom > 0 else 0.0
    rng = np.random.default_rng(0)
    refits = []
    for _ in range(resamples):
        drawn = predict(values) * np.exp(max(noise, spread) * rng.standard_normal(len(measured)))
        refits.append(_least_squares(names, predict, drawn, held, [best], starts[0]))
    errors = np.std(refits, axis=0) if refits else np.zeros(len(names))
    return Fit(
        values=values,
        errors=dict(zip(names, errors.tolist(), strict=True)),
        residual=float(np.sqrt((residuals**2).mean())),
        measurements=len(measured),
    )


def leave_one_out(
    names: Sequence[str], predict: Predict, measured: FloatArray, held: dict[str, float], label: str
) -> FloatArray:
    """[n]: relative error of each measurement, predicted by a fit to the others.

    Raises:
        PlatformError: where the others cannot determine a parameter.
    """
    errors = np.zeros(len(measured))
    for left_out in range(len(measured)):
        kept = np.arange(len(measured)) != left_out

        def of_kept(values: dict[str, float], kept: np.ndarray = kept) -> FloatArray:
            part: FloatArray = predict(values)[kept]
            return part

        found = fit(names, of_kept, measured[kept], held=held, noise=0.0, label=label, resamples=0)
        errors[left_out] = predict(found.values)[left_out] / measured[left_out] - 1.0
    return errors


def check_determined(
    names: Sequence[str],
    predict: Predict,
    measured: FloatArray,
    held: dict[str, float],
    label: str,
) -> None:
    """Accepts measurements that change with every combination of the parameters.

    The rank test: the derivatives of log(prediction) by log(parameter), at a point where all parts
    matter, must have as many independent directions as there are parameters.

    Raises:
        PlatformError: naming the parameters of a direction that changes nothing.
    """
    if len(measured) < len(names):
        raise PlatformError(
            f"{label}: {len(names)} parameters ({', '.join(names)}) need as many measurements at "
            f"least, got {len(measured)}"
        )
    # Where all overlaps, one part alone counts at each point; the test needs all of them.
    held = held | {"overlap": min(held["overlap"], 3.0)} if "overlap" in held else held
    inside = dict(zip(names, _starts(names, measured)[0].tolist(), strict=True))
    columns = []
    for name in names:
        step = 1e-4 * inside[name]
        above, below = (
            np.log(predict(held | inside | {name: inside[name] + sign * step}))
            for sign in (1.0, -1.0)
        )
        columns.append((above - below) / 2e-4)
    _, singular, directions = np.linalg.svd(np.stack(columns, axis=1), full_matrices=True)
    rank = int((singular > MIN_SINGULAR * singular[0]).sum())
    if rank < len(names):
        weak = np.abs(directions[rank:]).max(axis=0) > LARGE_IN_DIRECTION
        undetermined = [name for name, there in zip(names, weak, strict=True) if there]
        raise PlatformError(
            f"{label}: these measurements cannot determine {' and '.join(undetermined)}: they "
            "change together, or nothing; measure at other clocks, or leave one out"
        )


def _starts(names: Sequence[str], measured: FloatArray) -> list[FloatArray]:
    """Points to begin from, the first with all parameters in play."""
    rng = np.random.default_rng(0)
    low, high = float(measured.min()), float(measured.max())
    usual = {
        "time_ms": low, "compute_ms": 0.5 * low, "memory_ms": 0.5 * low,
        "host_ms": 0.4 * low, "stall": 0.2, "fixed_ms": 0.1 * low, "overlap": 2.5,
        "static_mw": 0.5 * low, "own_mw": 0.4 * high, "clock_mw": 0.2 * high, "host_mw": 0.2 * high,
    }  # fmt: skip
    first = np.array([usual[name] for name in names])
    return [first, *(first * rng.uniform(0.1, 2.0, len(names)) for _ in range(STARTS - 1))]


def _least_squares(
    names: Sequence[str],
    predict: Predict,
    measured: FloatArray,
    held: dict[str, float],
    starts: Sequence[FloatArray],
    usual: FloatArray,
) -> FloatArray:
    from scipy.optimize import least_squares

    low = np.array([1.0 if name == "overlap" else 0.0 for name in names])
    high = np.array([MAX_OVERLAP if name == "overlap" else np.inf for name in names])

    def residuals(point: FloatArray) -> FloatArray:
        values = held | dict(zip(names, point.tolist(), strict=True))
        result: FloatArray = np.log(np.maximum(predict(values), 1e-300) / measured)
        return result

    found = [
        least_squares(
            residuals,
            np.clip(start, low + 1e-9, high),
            bounds=(low, high),
            x_scale=usual,
        )
        for start in starts
    ]
    best: FloatArray = min(found, key=lambda result: float(result.cost)).x
    # What has run into its bound, but for rounding.
    return np.where(best < AT_BOUND * usual, low, best)
