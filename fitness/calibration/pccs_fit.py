"""Fitting the contention model (PCCS, section of the model) to a sweep of co-runs.

The loss of speed R(x, y) of :mod:`fitness.contention` is fitted by least squares of ln(s), with s =
100 / (100 - R) the slowdown. So the relative error counts, as times are measured. Whatever its
parameters, R never falls in x or y and is never negative, so every fit is monotone.

There are two stages. A coarse search runs over the thresholds, with the rates following linearly.
For its best candidates a local search (scipy) runs over all parameters but normalBW. normalBW is a
threshold on x only, so samples determine it only up to the gap between adjacent own demands. Below
TBWDC - CBP it has no effect, and is put there if the sweep shows no other threshold. Errors of the
other parameters are the spread over refits to resampled residuals (bootstrap), because kinks make
the usual covariance too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.pccs_sweep import MIN_GBPS, Sweep
from paretosoc.platforms.errors import PlatformError

PARAMETERS = (
    "normal_gbps",
    "total_gbps",
    "balance_gbps",
    "peak_gbps",
    "max_minor_percent",
    "rate_percent_per_gbps",
)
"""Names as in a platform file: normalBW, TBWDC, CBP, PBW, MRMC, rateN."""
MAX_PERCENT = 95.0
GRID = 24
"""Values of each threshold in the coarse search."""
MAX_THRESHOLDS = 32
"""If there are more own demands, such as measured ones that all differ, this many bound the gaps
that are tried."""
CANDIDATES = 3
"""Starts of the local search, for each normalBW."""
REFITS = 40
STEPS = 15
"""Steps of a refit, which starts near its end."""
SEED = 2021
MAX_ERROR = 1 / 3
"""A parameter whose error is a larger share of it is refused: the sweep does not determine it."""
SMALL_PERCENT = 1.0
"""MRMC may be as uncertain as this, in percent, however small it is."""


@dataclass(frozen=True)
class FittedParameter:
    """A value, and its error: one standard deviation, or 0 if it was given. For normalBW it is half
    of the range that the sweep leaves it."""

    value: float
    error: float
    is_given: bool = False


@dataclass(frozen=True)
class ContentionFit:
    """Parameters by the names of a platform file."""

    parameters: Mapping[str, FittedParameter]
    samples: int


def loss_percent(
    own: FloatArray, external: FloatArray, values: FloatArray | Sequence[float | FloatArray]
) -> FloatArray:
    """Return R in percent, [samples], for parameters in the order of ``PARAMETERS``. It is [cases,
    samples] if these are [cases, 1]."""
    normal, total, balance, peak, minor, rate = values
    light = minor * np.minimum(external, peak) / peak
    span = np.maximum(own + balance - total, 0.0)
    below = rate * np.clip(own + external - total, 0.0, span)
    above = rate * span * np.minimum(external, balance) / balance
    heavy = np.where(own < total, below, above)
    lost = np.where(own >= normal, np.maximum(light, heavy), light)
    return np.where(external > 0, np.minimum(lost, MAX_PERCENT), 0.0)


def fit_contention(
    sweep: Sweep, known: Mapping[str, float] | None = None, *, keep_undetermined: bool = False
) -> ContentionFit:
    """Return the parameters that fit a sweep best. ``known`` ones are kept as they are.

    Args:
        keep_undetermined: keep the best values of parameters that the sweep does not determine,
            with their errors. They hold only within the demands of the sweep.

    Raises:
        PlatformError: if the sweep does not determine parameters. The message names all of them
            and a remedy for each.
    """
    given = dict(known or {})
    fit = _Fit(sweep, given, is_strict=not keep_undetermined)
    values, gap = fit.best()
    undetermined = dict(fit.undetermined)
    if not keep_undetermined:
        undetermined |= _unseen_regions(fit, values)
    errors = fit.errors(values, gap)
    result: dict[str, FittedParameter] = {}
    for index, name in enumerate(PARAMETERS):
        value, error = float(values[index]), float(errors[index])
        if name in given:
            result[name] = FittedParameter(value, 0.0, is_given=True)
            continue
        small = name == "max_minor_percent" and error <= SMALL_PERCENT
        is_vague = not np.isfinite(error) or error > MAX_ERROR * abs(value)
        if is_vague and not small and not keep_undetermined:
            undetermined.setdefault(name, f"it is {value:.4g} +- {error:.2g}")
        result[name] = FittedParameter(value, error)
    if undetermined:
        causes = [
            f"{name}: {undetermined[name]}; measure {_REMEDIES[name]}, or give it with --known "
            f"{name}=VALUE"
            for name in PARAMETERS
            if name in undetermined
        ]
        raise PlatformError(f"the sweep does not determine {'. Nor '.join(causes)}")
    return ContentionFit(result, len(sweep.own))


_REMEDIES = {
    "normal_gbps": "own demands both below and above the point where contention sets in",
    "total_gbps": "external demands in small steps from nearly none",
    "balance_gbps": "external demands up to where the slowdown stays the same",
    "peak_gbps": "a kernel of small demand beside external demands up to where its slowdown stays "
    "the same",
    "max_minor_percent": "a kernel of small demand",
    "rate_percent_per_gbps": "kernels of large demand beside several external demands",
}


def _unseen_regions(fit: _Fit, values: FloatArray) -> dict[str, str]:
    """Return thresholds that differ for lack of samples on both of their sides, and why."""
    unseen: dict[str, str] = {}
    own, external = fit.sweep.own, fit.sweep.external
    normal, _, balance, peak, _, _ = values
    light = own < normal
    if not light.any() and "max_minor_percent" not in fit.given:
        unseen["max_minor_percent"] = "no own demand is below normal_gbps"
    if "peak_gbps" not in fit.given and (not light.any() or external[light].max() <= peak):
        unseen["peak_gbps"] = "no kernel of small demand ran beside as much external demand"
    heavy = ~light
    if not heavy.any():
        if "rate_percent_per_gbps" not in fit.given:
            unseen["rate_percent_per_gbps"] = "no own demand is above normal_gbps"
    elif "balance_gbps" not in fit.given and external[heavy].max() <= balance:
        unseen["balance_gbps"] = "no external demand is above it"
    return unseen


class _Fit:
    """Least squares over the parameters that are not given."""

    def __init__(self, sweep: Sweep, given: Mapping[str, float], *, is_strict: bool) -> None:
        self.sweep = sweep
        self.given = given
        self.is_strict = is_strict
        self.undetermined: dict[str, str] = {}
        self.lost = sweep.lost_percent
        # A loss of speed is known the better the larger it is: d ln(s) = dR / (100 - R).
        self.weights = sweep.slowdown
        self.measured = 100 * np.log(sweep.slowdown)
        self.free = [
            index
            for index, name in enumerate(PARAMETERS)
            if name not in given and name != "normal_gbps"
        ]
        demands = np.unique(sweep.own)
        if len(demands) > MAX_THRESHOLDS:
            shares = np.linspace(0, 1, MAX_THRESHOLDS)
            demands = np.unique(np.quantile(demands, shares, method="nearest"))
        self.gaps = [(float(low), float(high)) for low, high in pairwise(demands)]
        self.reach = float(sweep.own.max() + sweep.external.max())

    def best(self) -> tuple[FloatArray, float]:
        """Return the best parameters, [6], and half of the range that the samples leave normalBW.
        The range is 0 if it follows from the others, and infinite if a value beside all own demands
        fits as well, which is noted if the fit is strict."""
        found = {normal: self._best_at(normal) for normal in self._normals()}
        values = min(found.values(), key=lambda values: self._error(values, self.measured))
        if "normal_gbps" in self.given:
            return values, 0.0
        # Two standard deviations of the squared error's own noise.
        free = max(len(self.measured) - len(self.free), 1)
        bound = self._error(values, self.measured) * (1 + 4 / free) + 1e-9
        idle = values.copy()
        idle[0] = max(values[1] - values[2], MIN_GBPS)
        if idle[0] > self.sweep.own.min() and self._error(idle, self.measured) <= bound:
            return idle, 0.0
        fitting = [n for n, at in found.items() if self._error(at, self.measured) <= bound]
        above = bool(fitting[0] < self.sweep.own.min())
        if above or fitting[-1] > self.sweep.own.max():
            if self.is_strict:
                where = "above" if above else "below"
                self.undetermined["normal_gbps"] = f"all own demands may be {where} it"
            return values, np.inf
        low = max(gap[0] for gap in self.gaps if gap[0] < fitting[0])
        high = min(gap[1] for gap in self.gaps if gap[1] > fitting[-1])
        middle = values.copy()
        middle[0] = (low + high) / 2
        return self._polish(middle, self.measured), (high - low) / 2

    def _best_at(self, normal: float) -> FloatArray:
        starts = self._coarse(normal)
        polished = [self._polish(values, self.measured) for _, values in starts]
        return min(polished, key=lambda values: self._error(values, self.measured))

    def errors(self, values: FloatArray, threshold_error: float) -> FloatArray:
        """Return one standard deviation of every free parameter. The one of normalBW is given or,
        if it is 0, follows from TBWDC and CBP."""
        generator = np.random.default_rng(SEED)
        model = self._predicted(values)
        residuals = self.measured - model
        # Refits have fewer degrees of freedom than samples, so the residuals are widened for it.
        free = max(len(residuals) - len(self.free), 1)
        residuals = (residuals - residuals.mean()) * np.sqrt(len(residuals) / free)
        refits = [
            self._polish(values, model + generator.choice(residuals, len(residuals)), STEPS)
            for _ in range(REFITS)
        ]
        errors: FloatArray = np.std(np.array(refits), axis=0, ddof=1)
        # A parameter that nothing depends on never moves from its start: that is no certainty.
        for index in self.free:
            moved = values.copy()
            moved[index] *= 1.1
            if np.allclose(self._predicted(moved), model, rtol=0, atol=1e-9):
                errors[index] = np.inf
        errors[0] = threshold_error or np.hypot(errors[1], errors[2])
        return errors

    def _normals(self) -> list[float]:
        if "normal_gbps" in self.given:
            return [self.given["normal_gbps"]]
        return [
            MIN_GBPS,
            *((low + high) / 2 for low, high in self.gaps),
            float(self.sweep.own.max()) * 2,
        ]

    def _coarse(self, normal: float) -> list[tuple[float, FloatArray]]:
        """Return the best starts for one normalBW, with their squared errors."""
        light = self.sweep.own < normal
        peak, minor = self._minor(light)
        minor = self.given.get("max_minor_percent", minor)
        if light.all():
            values = np.array([normal, self.reach, MIN_GBPS, peak, minor, 0.0])
            for name, value in self.given.items():
                values[PARAMETERS.index(name)] = value
            return [(self._error(values, self.measured), values)]
        totals, balances = (
            axis.reshape(-1, 1)
            for axis in np.meshgrid(
                self._choices("total_gbps", self.reach),
                self._choices("balance_gbps", float(self.sweep.external[~light].max())),
            )
        )
        # At a rate of 1 and without minor contention, the loss is the factor that rates multiply.
        shape = loss_percent(
            self.sweep.own[~light],
            self.sweep.external[~light],
            (normal, totals, balances, peak, 0.0, 1.0),
        )
        shape = shape * self.weights[~light]
        norms = np.maximum((shape**2).sum(axis=1), 1e-12)
        rates = np.maximum(shape @ (self.lost * self.weights)[~light] / norms, 0.0)
        if "rate_percent_per_gbps" in self.given:
            rates[:] = self.given["rate_percent_per_gbps"]
        grid = (normal, totals, balances, peak, minor, rates[:, None])
        errors = ((self._predicted(grid) - self.measured) ** 2).sum(axis=1)
        return [
            (
                float(errors[place]),
                np.array([normal, totals[place, 0], balances[place, 0], peak, minor, rates[place]]),
            )
            for place in np.argsort(errors, kind="stable")[:CANDIDATES]
        ]

    def _choices(self, name: str, largest: float) -> FloatArray:
        if name in self.given:
            return np.array([self.given[name]])
        return np.linspace(largest / GRID, largest, GRID)

    def _minor(self, light: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[float, float]:
        """Return PBW and MRMC that fit the samples of small own demand."""
        peaks = self._choices("peak_gbps", float(self.sweep.external.max()))
        if not light.any():
            return float(peaks[-1]), 0.0
        best = (np.inf, float(peaks[-1]), 0.0)
        for peak in peaks:
            shape = np.minimum(self.sweep.external[light], peak) / peak
            minor = max(float(shape @ self.lost[light] / (shape @ shape)), 0.0)
            error = float(np.sum((self.lost[light] - minor * shape) ** 2))
            best = min(best, (error, float(peak), minor))
        return best[1], best[2]

    def _predicted(self, values: FloatArray | Sequence[float | FloatArray]) -> FloatArray:
        """Return ln(s) in percent."""
        lost = loss_percent(self.sweep.own, self.sweep.external, values)
        return -100 * np.log1p(-lost / 100)

    def _error(self, values: FloatArray, measured: FloatArray) -> float:
        rest = self._predicted(values) - measured
        return float(rest @ rest)

    def _polish(
        self, values: FloatArray, measured: FloatArray, max_steps: int | None = None
    ) -> FloatArray:
        from scipy.optimize import least_squares

        if not self.free:
            return values

        def residuals(free: FloatArray) -> FloatArray:
            trial = values.copy()
            trial[self.free] = free
            return self._predicted(trial) - measured

        low = np.array([0, MIN_GBPS, MIN_GBPS, MIN_GBPS, 0, 0])[self.free]
        high = np.array([0, self.reach, self.reach, self.reach, 95, 100])[self.free]
        start = np.clip(values[self.free], low, high)
        found = least_squares(
            residuals,
            start,
            bounds=(low, high),
            x_scale=np.maximum(start, 1.0),
            max_nfev=max_steps,
        )
        result = values.copy()
        result[self.free] = found.x
        return result
