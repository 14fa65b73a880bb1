"""How far estimates are off, as distributions, and how often these come true.

An error is the logarithm of a measured time over the predicted one. It follows Student's t with
``TAIL`` degrees of freedom, since some networks are off by far more than others. The scale of a
unit in one number format leans on that of its pool as on ``LEANING`` networks more. If fewer than
85 % of a unit's rows were within the intervals of 90 %, its scale is widened by the factor that was
missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from benchmarks.fit_costs.samples import Entry, Sample
from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import TAIL

LEANING = 4
ENOUGH = 8
"""Rows of which a share is taken."""
LEVELS = np.arange(1, 10) / 10
"""Stated probabilities that are held against shares."""
Logs = Mapping[Entry, Mapping[str, FloatArray]]
"""Errors by entry and network, one per measured size of the network."""


@dataclass(frozen=True)
class Scales:
    """The scales of a pool: of the networks of each entry, and of what they have in common, on a
    unit that was measured and on one that was not."""

    network: dict[Entry, float]
    usual: float
    """Usual error of the networks of a unit that was not measured."""
    unit: float
    new_unit: float


def logs_of(samples: Sequence[Sample], predicted: FloatArray) -> Logs:
    """Return the errors of predicted times in ms."""
    found: dict[Entry, dict[str, list[float]]] = {}
    for one, time in zip(samples, predicted, strict=True):
        own = found.setdefault(one.measured.entry, {})
        own.setdefault(one.measured.network, []).append(float(np.log(one.measured.ms / time)))
    return {
        entry: {name: np.array(logs) for name, logs in own.items()} for entry, own in found.items()
    }


def scale_of(errors: FloatArray, leaning: float = 0.0) -> float:
    """Return the scale of t by maximum likelihood, as if ``LEANING`` more networks had had that of
    ``leaning``, if that is not 0."""
    weight = LEANING if leaning else 0
    squared = float((errors**2).mean()) if len(errors) else leaning**2
    for _ in range(200):
        shares = (TAIL + 1) / (TAIL + errors**2 / max(squared, 1e-12))
        new = (float((shares * errors**2).sum()) + weight * leaning**2) / (len(errors) + weight)
        if abs(new - squared) < 1e-12:
            break
        squared = new
    return float(np.sqrt(squared))


def scales_of(logs: Logs, unit_logs: Logs | None) -> Scales:
    """Return the scales of a pool by the errors of networks, and of units, that were left out."""
    widened = widening(logs)
    usual = scale_of(_means(logs))
    common = _common(logs)
    return Scales(
        network={
            entry: widened[entry] * scale_of(_means({entry: own}), usual)
            for entry, own in logs.items()
        },
        usual=usual,
        unit=common,
        new_unit=common if unit_logs is None else max(common, _common(unit_logs)),
    )


def widening(logs: Logs) -> dict[Entry, float]:
    """Return the factor, at least 1, with which 85 % of the rows of an entry are within the
    intervals of 90 % that :func:`held_out` gives; 1 if it has few rows."""
    held = held_out(logs)
    own = {entry: [ratio for of, _, ratio in held if of == entry] for entry in logs}
    return {
        entry: max(1.0, float(np.quantile(ratios, 0.85, method="higher")) / _bound(0.9))
        if len(ratios) >= ENOUGH
        else 1.0
        for entry, ratios in own.items()
    }


def held_out(logs: Logs) -> list[tuple[Entry, str, float]]:
    """Return |error| over the scale that the errors of all other networks give, with its entry and
    network."""
    found = []
    for name in sorted({name for own in logs.values() for name in own}):
        others = {
            entry: {other: log for other, log in own.items() if other != name}
            for entry, own in logs.items()
        }
        leaning = scale_of(_means(others))
        for entry, own in logs.items():
            if name in own:
                scale = scale_of(_means({entry: others[entry]}), leaning)
                found += [(entry, name, abs(log) / scale) for log in own[name].tolist()]
    return found


def within(ratios: FloatArray, level: float) -> float:
    """Return the share of |error| / scale within the central interval of a probability. Ratios that
    were widened to its end are within, however they are rounded."""
    return float((ratios <= (1 + 1e-9) * _bound(level)).mean())


def calibration_error(ratios: FloatArray) -> float:
    """Return by how much shares differ from stated probabilities, in the mean over ``LEVELS``."""
    return float(np.mean([abs(within(ratios, level) - level) for level in LEVELS]))


def _bound(level: float) -> float:
    return float(student.ppf((1 + level) / 2, TAIL))


def _means(logs: Logs) -> FloatArray:
    """Return the mean error of each network on each entry."""
    return np.array([log.mean() for own in logs.values() for log in own.values()])


def _common(logs: Logs) -> float:
    """Return the standard deviation of what the networks of an entry have in common, by the means
    of entries with three networks or more."""
    entries = [_means({entry: own}) for entry, own in logs.items() if len(own) > 2]
    if len(entries) < 2:
        return 0.0
    rest = sum(float(((own - own.mean()) ** 2).sum()) for own in entries)
    count = sum(map(len, entries))
    by_chance = rest / (count - len(entries)) / (count / len(entries))
    between = float(np.mean([own.mean() ** 2 for own in entries]))
    return float(np.sqrt(max(0.0, between - by_chance)))
