"""One fit of the units of a pool: efficiencies by class, bandwidth shares, fixed times.

The logarithm of every figure has a normal prior, that of an efficiency around

    the unit's own + the class's, the same for all units of the pool + a small one of both,

so units with few measured networks lean on the others. The sum of squares of these and of a
robust function of the logarithmic errors is made smallest. It is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.optimize import least_squares

from benchmarks.fit_costs.samples import KEYS, Entry, Sample
from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.shape import SPREADS

ERROR = 0.1
"""Standard deviation of the logarithm of a measured time about a right model."""
OWN = 0.25
"""Spread of the class of a unit about the class of the pool."""
MOST_SHARE = 0.95
"""Largest share of the memory's bandwidth."""
ITERATIONS = 60


@dataclass(frozen=True)
class Prior:
    """Medians of figures, and standard deviations of their logarithms.

    ``us_per_network`` 0: it is not fitted.
    """

    efficiency: float = 0.4
    share: float = 0.6
    us_per_layer: float = 10
    us_per_network: float = 0
    efficiency_sd: float = SPREADS[0]
    class_sd: float = 0.5
    share_sd: float = SPREADS[1]
    fixed_sd: float = SPREADS[2]
    classes: tuple[tuple[str, float], ...] = ()
    """Medians of efficiencies of classes over the unit's own, 1 if not named."""


@dataclass(frozen=True, eq=False)
class Figures:
    """The fitted figures of an entry, efficiencies in the order of KEYS."""

    efficiency: FloatArray
    share: float
    us_per_layer: float
    us_per_network: float


@dataclass(eq=False)
class _Layout:
    """Places of the figures in the vector that is fitted."""

    entries: list[Entry]
    units: list[tuple[str, str]]
    has_setup: bool
    places: dict[str, slice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, u, k = len(self.entries), len(self.units), len(KEYS)
        first = 0
        for name, size in (
            ("class", k), ("entry", n), ("both", n * k), ("share", u), ("layer", u),
            ("network", u if self.has_setup else 0),
        ):  # fmt: skip
            self.places[name] = slice(first, first + size)
            first += size
        self.size = first

    def prior(self, prior: Prior) -> tuple[FloatArray, FloatArray]:
        """Return medians and standard deviations of all logarithms."""
        middle, wide = np.zeros(self.size), np.ones(self.size)
        for name, value, sd in (
            ("class", 1.0, prior.class_sd),
            ("entry", prior.efficiency, prior.efficiency_sd),
            ("both", 1.0, OWN),
            ("share", prior.share, prior.share_sd),
            ("layer", prior.us_per_layer / 1000, prior.fixed_sd),
            ("network", max(prior.us_per_network, 1e-9) / 1000, prior.fixed_sd),
        ):
            middle[self.places[name]] = np.log(value)
            wide[self.places[name]] = sd
        for name, value in prior.classes:
            middle[self.places["class"].start + KEYS.index(name)] = np.log(value)
        return middle, wide


@dataclass(eq=False)
class _Table:
    """Launches of samples, one after the other."""

    samples: Sequence[Sample]
    layout: _Layout

    def __post_init__(self) -> None:
        self.memory = np.concatenate([s.memory for s in self.samples])
        counts = [len(s.memory) for s in self.samples]
        # A launch computes in one class or two, so most of [launches, KEYS] is zeros.
        compute = np.concatenate([s.compute for s in self.samples])
        self.launch, self.key = np.nonzero(compute)
        self.compute = compute[self.launch, self.key]
        self.of = np.repeat(np.arange(len(counts)), counts)
        self.first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int)
        self.overlap = np.array([s.overlap for s in self.samples])[self.of]
        self.launches = np.array([s.launches for s in self.samples])
        self.setups = np.array([s.setups for s in self.samples])
        entries = [s.measured.entry for s in self.samples]
        self.entry = np.array([self.layout.entries.index(e) for e in entries])
        self.unit = np.array([self.layout.units.index(e[:2]) for e in entries])
        self.ms = np.array([s.measured.ms for s in self.samples])

    def predict(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the times of the samples in ms, and their derivatives."""
        at, keys = self.layout.places, len(KEYS)
        logs = vector[at["entry"]][:, None] + vector[at["class"]]
        logs = logs + vector[at["both"]].reshape(-1, keys)
        used = self.entry[self.of[self.launch]], self.key
        parts = self.compute / np.exp(np.minimum(logs, 0))[used]
        compute = np.bincount(self.launch, parts, len(self.memory))
        share = np.minimum(vector[at["share"]], np.log(MOST_SHARE))
        memory = self.memory / np.exp(share)[self.unit][self.of]
        largest = np.maximum(np.maximum(compute, memory), 1e-30)
        p = self.overlap
        time = 1e-30 + largest * ((compute / largest) ** p + (memory / largest) ** p) ** (1 / p)
        per_layer = np.exp(vector[at["layer"]])[self.unit] * self.launches
        total = np.add.reduceat(time, self.first) + per_layer
        slopes = np.zeros((len(total), len(vector)))
        rows = np.arange(len(total))
        by_class = (compute / time) ** (p - 1)
        part_falls = by_class[self.launch] * parts * (logs < 0)[used]
        places = self.of[self.launch] * keys + self.key
        falls = -np.bincount(places, part_falls, len(total) * keys)
        falls = falls.reshape(-1, keys)
        slopes[:, at["class"]] = falls
        slopes[rows, at["entry"].start + self.entry] = falls.sum(axis=1)
        for key in range(keys):
            slopes[rows, at["both"].start + self.entry * keys + key] = falls[:, key]
        moving = -np.add.reduceat((memory / time) ** (p - 1) * memory, self.first)
        free = vector[at["share"]][self.unit] < np.log(MOST_SHARE)
        slopes[rows, at["share"].start + self.unit] = moving * free
        slopes[rows, at["layer"].start + self.unit] = per_layer
        if self.layout.has_setup:
            once = np.exp(vector[at["network"]])[self.unit] * self.setups
            slopes[rows, at["network"].start + self.unit] = once
            total = total + once
        return total, slopes


@dataclass(frozen=True, eq=False)
class Fit:
    """Figures of all entries of a pool."""

    layout: _Layout
    vector: FloatArray

    def figures(self, entry: Entry) -> Figures:
        """Return those of an entry."""
        at, place = self.layout.places, self.layout.entries.index(entry)
        unit = self.layout.units.index(entry[:2])
        both = self.vector[at["both"]].reshape(-1, len(KEYS))[place]
        logs = self.vector[at["entry"]][place] + self.vector[at["class"]] + both
        once = self.vector[at["network"]][unit : unit + 1]
        return Figures(
            np.exp(np.minimum(logs, 0)),
            min(MOST_SHARE, float(np.exp(self.vector[at["share"]][unit]))),
            1000 * float(np.exp(self.vector[at["layer"]][unit])),
            1000 * float(np.exp(once).sum()),
        )

    def usual(self) -> Figures:
        """Return those of a unit of which nothing is measured."""
        at = self.layout.places

        def mean(name: str) -> float:
            return float(np.exp(self.vector[at[name]].mean()))

        logs = self.vector[at["entry"]].mean() + self.vector[at["class"]]
        once = 1000 * mean("network") if self.layout.has_setup else 0.0
        share = min(MOST_SHARE, mean("share"))
        return Figures(np.exp(np.minimum(logs, 0)), share, 1000 * mean("layer"), once)

    def times_ms(self, samples: Sequence[Sample]) -> FloatArray:
        """Return the predicted times of samples."""
        return _Table(samples, self.layout).predict(self.vector)[0]


def fit_pool(samples: Sequence[Sample], prior: Prior, start: Fit | None = None) -> Fit:
    """Return the fit to samples of one pool, from the prior or from ``start``, which has the same
    entries or more: whichever ends lower. From ``start`` alone it would stay near what that has
    seen, and the samples have not."""
    entries = sorted({s.measured.entry for s in samples})
    layout = _Layout(entries, sorted({e[:2] for e in entries}), prior.us_per_network > 0)
    if start is not None:
        layout = start.layout
    table = _Table(samples, layout)
    middle, wide = layout.prior(prior)

    @lru_cache(maxsize=1)
    def predicted(data: bytes) -> tuple[FloatArray, FloatArray]:
        """Return times and derivatives, which are asked for one after the other."""
        return table.predict(np.frombuffer(data))

    def residuals(vector: FloatArray) -> FloatArray:
        error = np.log(predicted(vector.tobytes())[0] / table.ms) / ERROR
        return np.concatenate([_robust(error), (vector - middle) / wide])

    def slopes(vector: FloatArray) -> FloatArray:
        times, change = predicted(vector.tobytes())
        error = np.log(times / table.ms) / ERROR
        root = _robust(error)
        near = np.abs(root) < 1e-6
        rise = np.where(near, 1, error / np.sqrt(1 + error**2) / np.where(near, 1, root))
        return np.vstack([(rise / ERROR / times)[:, None] * change, np.diag(1 / wide)])

    found = [
        least_squares(residuals, begin, jac=slopes, max_nfev=ITERATIONS, xtol=1e-7, ftol=1e-7)
        for begin in (middle, *([] if start is None else [start.vector]))
    ]
    return Fit(layout, min(found, key=lambda one: float(one.cost)).x)


def _robust(error: FloatArray) -> FloatArray:
    """Return roots of a loss that is quadratic for small errors and linear for large ones."""
    root: FloatArray = np.sign(error) * np.sqrt(2 * (np.sqrt(1 + error**2) - 1))
    return root


def left_out(
    samples: Sequence[Sample],
    prior: Prior,
    group: Callable[[Sample], str] = lambda s: s.measured.network,
) -> FloatArray:
    """Return the times of samples in ms, each by a fit to those of other networks, on any unit."""
    whole = fit_pool(samples, prior)
    times = np.zeros(len(samples))
    for name in sorted({group(s) for s in samples}):
        places = [k for k, s in enumerate(samples) if group(s) == name]
        others = [s for s in samples if group(s) != name]
        fit = fit_pool(others, prior, whole)
        times[places] = fit.times_ms([samples[k] for k in places])
    return times


def units_left_out(samples: Sequence[Sample], prior: Prior) -> FloatArray:
    """Return the times of samples in ms as of a unit that nobody measured: by what is usual in a
    fit to those of other units, NaN if there are none."""
    whole = fit_pool(samples, prior)
    at, layout = whole.layout.places, whole.layout
    times = np.full(len(samples), np.nan)
    for u, unit in enumerate(layout.units if len(layout.units) > 1 else ()):
        places = [k for k, s in enumerate(samples) if s.measured.entry[:2] == unit]
        others = [s for s in samples if s.measured.entry[:2] != unit]
        vector = fit_pool(others, prior, whole).vector.copy()
        own = np.array([entry[:2] == unit for entry in layout.entries])
        vector[at["entry"]][own] = vector[at["entry"]][~own].mean()
        for name in ("share", "layer", *(("network",) if layout.has_setup else ())):
            vector[at[name]][u : u + 1] = np.delete(vector[at[name]], u).mean()
        times[places] = Fit(layout, vector).times_ms([samples[k] for k in places])
    return times


def by_constant(samples: Sequence[Sample]) -> FloatArray:
    """Return the times of samples of one entry by one time per multiply-accumulate, the median of
    those of other networks."""
    rates = np.array([s.measured.ms / s.macs for s in samples])
    names = np.array([s.measured.network for s in samples])
    return np.array(
        [
            np.median(others) * s.macs if len(others := rates[names != name]) else np.nan
            for s, name in zip(samples, names, strict=True)
        ]
    )
