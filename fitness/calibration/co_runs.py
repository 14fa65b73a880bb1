"""Co-runs of whole networks, and what they say of a board: one to three parameters.

A table has a row for each network of each run: alone, beside another network on another unit or on
the same one, or beside a program that only reads memory. Times are those that a network itself
takes, so that a unit that two share fairly changes none. Laws of rising freedom say how much longer
it takes beside another. Each is fitted by medians of the ratio to the time alone, and judged on the
pairs of networks that were left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np

from paretosoc.fitness.calibration.csv_table import read_table
from paretosoc.platforms.errors import PlatformError

COLUMNS = ("network", "unit", "beside", "beside_unit", "ms")
MEMORY = "memory"
"""What stands beside a network for a program that only reads memory."""
FEWEST_PAIRS = 3
FEWEST_NETWORKS = 3
WORTH = 0.005
"""More parameters are worth it if the mean error of pairs left out falls by as much."""


@dataclass(frozen=True)
class CoRun:
    """A network of a run. ``beside`` and ``beside_unit`` are empty if it ran alone."""

    network: str
    unit: str
    beside: str
    beside_unit: str

    @property
    def pair(self) -> frozenset[str]:
        """Return the networks of the run."""
        return frozenset((self.network, self.beside))

    @property
    def is_shared(self) -> bool:
        """Return whether both are on one unit."""
        return self.unit == self.beside_unit


Samples = Mapping[CoRun, float]
"""Time by run: the median in ms, or what it is divided by the one alone."""
Fit = Callable[[Samples, Samples], tuple[Mapping[str, float], Callable[[CoRun], float]]]
"""From ratios of pairs and ratios beside a reader of memory to parameters, and the ratio that they
predict."""


@dataclass(frozen=True)
class Judged:
    """A law, its parameters from all pairs, and its errors on pairs that were left out."""

    law: str
    parameters: Mapping[str, float]
    median_error: float
    mean_error: float
    worst_error: float


@dataclass(frozen=True)
class CoRunFit:
    """All laws, and the index of the one that the data support."""

    laws: tuple[Judged, ...]
    supported: int
    pairs: int
    samples: int
    beside_memory: Mapping[CoRun, float]
    """Ratios beside a reader of memory."""


def plan(networks: Sequence[str], units: Sequence[str]) -> list[tuple[CoRun, CoRun | None]]:
    """Return runs: each network alone on each unit and beside a reader of memory, each pair on two
    units in both ways, and on each unit together."""
    runs: list[tuple[CoRun, CoRun | None]] = []
    for network in networks:
        for unit in units:
            runs.append((CoRun(network, unit, "", ""), None))
            runs += [
                (CoRun(network, unit, MEMORY, other), None) for other in units if other != unit
            ]
    for k, first in enumerate(networks):
        for second in networks[k + 1 :]:
            for unit in units:
                for other in units:
                    there = CoRun(first, unit, second, other), CoRun(second, other, first, unit)
                    runs.append(there)
    return runs


def read_co_runs(paths: Sequence[Path]) -> dict[CoRun, float]:
    """Return the median time of each run in ms.

    Raises:
        PlatformError: on a row without a network, a unit or a time.
    """
    found: dict[CoRun, list[float]] = {}
    for path in paths:
        for row in read_table(path, COLUMNS, optional=()):
            time = row.number("ms")
            run = CoRun(*(row.cells[column] for column in COLUMNS[:4]))
            if not time:
                raise PlatformError(f"{row.where}: ms must be above 0, got {row.cells['ms']!r}")
            if not run.network or not run.unit or bool(run.beside) != bool(run.beside_unit):
                raise PlatformError(
                    f"{row.where}: network and unit are required, and both or none of beside and "
                    "beside_unit"
                )
            found.setdefault(run, []).append(float(time))
    return {run: median(times) for run, times in found.items()}


def fit_co_runs(times: Samples) -> CoRunFit:
    """Fit all laws, and judge each on the pairs that are left out one at a time.

    Raises:
        PlatformError: if a network has no time alone on a unit, or there are too few pairs.
    """
    ratios: dict[CoRun, float] = {}
    for run, time in times.items():
        alone = times.get(CoRun(run.network, run.unit, "", ""))
        if alone is None:
            raise PlatformError(
                f"co-runs: a time of {run.network!r} alone on {run.unit!r} is required"
            )
        if run.beside:
            ratios[run] = time / alone
    hog = {run: ratio for run, ratio in ratios.items() if run.beside == MEMORY}
    both = {run: ratio for run, ratio in ratios.items() if run.beside != MEMORY}
    pairs = sorted({run.pair for run in both}, key=sorted)
    if len(pairs) < FEWEST_PAIRS:
        raise PlatformError(
            f"co-runs: at least {FEWEST_PAIRS} pairs of networks are required, got {len(pairs)}"
        )
    laws = tuple(_judge(name, fit, both, hog, pairs) for name, fit in LAWS.items())
    best = min(law.mean_error for law in laws)
    supported = min(
        (k for k, law in enumerate(laws) if law.mean_error <= best + WORTH),
        key=lambda k: (len(laws[k].parameters), laws[k].mean_error),
    )
    return CoRunFit(laws, supported, len(pairs), len(both), hog)


def _judge(
    name: str, fit: Fit, both: Samples, hog: Samples, pairs: Sequence[frozenset[str]]
) -> Judged:
    errors = []
    for pair in pairs:
        seen = {run: ratio for run, ratio in both.items() if run.pair != pair}
        _, predicted = fit(seen, hog)
        errors += [
            abs(predicted(run) / ratio - 1) for run, ratio in both.items() if run.pair == pair
        ]
    return Judged(name, fit(both, hog)[0], median(errors), fmean(errors), max(errors))


def _longer(ratios: Sequence[float]) -> float:
    return median(ratios) - 1 if ratios else 0.0


def _nothing(both: Samples, hog: Samples) -> tuple[dict[str, float], Callable[[CoRun], float]]:
    return {}, lambda run: 1.0


def _one_factor(both: Samples, hog: Samples) -> tuple[dict[str, float], Callable[[CoRun], float]]:
    factor = 1 + _longer(list(both.values()))
    return {"factor": factor - 1}, lambda run: factor


def _shared(both: Samples, hog: Samples) -> tuple[dict[str, float], Callable[[CoRun], float]]:
    overhead = _longer([ratio for run, ratio in both.items() if run.is_shared])
    return {"sharing": overhead}, lambda run: 1 + overhead * run.is_shared


def _apart(both: Samples, hog: Samples) -> tuple[dict[str, float], Callable[[CoRun], float]]:
    found, _ = _shared(both, hog)
    apart = _longer([ratio for run, ratio in both.items() if not run.is_shared])
    return (
        {**found, "another unit": apart},
        lambda run: 1 + (found["sharing"] if run.is_shared else apart),
    )


def _by_unit(both: Samples, hog: Samples) -> tuple[dict[str, float], Callable[[CoRun], float]]:
    found, _ = _shared(both, hog)
    units = sorted({run.unit for run in both})
    apart = {
        unit: _longer([r for run, r in both.items() if not run.is_shared and run.unit == unit])
        for unit in units
    }
    return (
        {**found, **{f"another unit, {unit}": value for unit, value in apart.items()}},
        lambda run: 1 + (found["sharing"] if run.is_shared else apart.get(run.unit, 0.0)),
    )


def _by_memory(both: Samples, hog: Samples) -> tuple[dict[str, float], Callable[[CoRun], float]]:
    """Fit the law that a network loses a share of what it loses beside a reader of memory."""
    found, _ = _shared(both, hog)

    def loss(run: CoRun) -> float:
        known = [r for one, r in hog.items() if (one.network, one.unit) == (run.network, run.unit)]
        return max(_longer(known), 0.0)

    apart = [(loss(run), ratio) for run, ratio in both.items() if not run.is_shared]
    shares = np.arange(101) / 50
    errors = [sum(abs(np.log((1 + k * lost) / ratio)) for lost, ratio in apart) for k in shares]
    share = float(shares[int(np.argmin(errors))])
    return (
        {**found, "of the loss beside memory": share},
        lambda run: 1 + (found["sharing"] if run.is_shared else share * loss(run)),
    )


LAWS: dict[str, Fit] = {
    "no contention": _nothing,
    "one factor": _one_factor,
    "sharing a unit": _shared,
    "sharing, another unit": _apart,
    "sharing, share of the loss beside memory": _by_memory,
    "sharing, another unit by unit": _by_unit,
}
