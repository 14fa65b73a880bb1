"""Sweeps of co-runs: how much a kernel of known demand slows down beside known external traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.platforms.errors import PlatformError

COLUMNS = ("own_gbps", "external_gbps", "slowdown", "alone_ms", "together_ms")
FEWEST = 8
"""Fewer samples than parameters, and some to see the error by, are refused."""
MIN_GBPS = 0.01
"""Least value of a threshold. Demands below it are noise, or in another unit."""
MAX_GBPS = 10_000
MAX_SLOWDOWN = 100
NOISE = 0.8
"""A slowdown below this is no noise: columns were swapped, or the clocks were not held."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Samples as arrays [samples], demands in GB/s. ``flagged``: texts about samples that were left
    out."""

    own: FloatArray
    external: FloatArray
    slowdown: FloatArray
    flagged: tuple[str, ...] = ()

    @property
    def lost_percent(self) -> FloatArray:
        """Return the share of its speed that the kernel lost, percent: R of s = 100 / (100 - R)."""
        return 100.0 - 100.0 / self.slowdown


def read_sweep(paths: Sequence[Path]) -> Sweep:
    """Return the samples in CSV files: demands, and the slowdown or both times.

    Samples without external traffic hold the definition, not the model, and are left out.

    Raises:
        PlatformError: if a row has too little data, or impossible values.
    """
    samples: list[tuple[float, float, float]] = []
    flagged: list[str] = []
    faster = 0
    for path in paths:
        for row in read_table(path, COLUMNS, optional=COLUMNS[2:]):
            own, external = (_demand(row, column) for column in COLUMNS[:2])
            slowdown = _slowdown(row)
            if not NOISE <= slowdown <= MAX_SLOWDOWN:
                raise PlatformError(
                    f"{row.where}: slowdown must be from {NOISE:g} to {MAX_SLOWDOWN}, got "
                    f"{slowdown:g}"
                )
            faster += slowdown < 1
            if external:
                samples.append((own, external, slowdown))
    if faster:
        flagged.append(f"{faster} samples were faster beside another: taken as noise, and used")
    if len(samples) < FEWEST:
        raise PlatformError(
            f"{paths[0]}: at least {FEWEST} samples with external traffic are required, got "
            f"{len(samples)}"
        )
    columns = np.array(samples, dtype=np.float64).T
    return Sweep(columns[0], columns[1], columns[2], tuple(flagged))


def _demand(row: TableRow, column: str) -> float:
    value = row.number(column)
    may_be_none = column == "external_gbps" and value == 0
    if value is None or not (MIN_GBPS <= value <= MAX_GBPS or may_be_none):
        raise PlatformError(
            f"{row.where}: {column} must be a number from {MIN_GBPS} to {MAX_GBPS}, got "
            f"{row.cells[column]!r}"
        )
    return float(value)


def _slowdown(row: TableRow) -> float:
    given, alone, together = (row.number(column) for column in COLUMNS[2:])
    if given is not None and alone is None and together is None:
        return float(given)
    if given is None and alone and together:
        return float(together / alone)
    raise PlatformError(
        f"{row.where}: slowdown, or both alone_ms and together_ms above 0, are required"
    )
