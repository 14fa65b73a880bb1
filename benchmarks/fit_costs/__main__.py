"""Fit the figures of the cost model to measured networks, and predict each from the others.

Units of a pool are fitted together: a unit that nobody measured takes what is usual in its pool.
Baselines: the platform file's estimate, whose figures have seen the network, and one time per
multiply-accumulate from the unit's other networks.

Usage: ``python -m benchmarks.fit_costs [--pool NAME] [--write] [--json]``. ``--write`` puts the
figures and errors into the platform files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from statistics import median

import numpy as np

from benchmarks.fit_costs.fit import Fit, by_constant, fit_pool, left_out
from benchmarks.fit_costs.pools import POOLS, Pool
from benchmarks.fit_costs.samples import Entry, Sample
from benchmarks.fit_costs.write import peak_figures, platform_extends, write_peak
from benchmarks.harness.report import Column, parser, show
from paretosoc.common.arrays import FloatArray
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.platform import FitError

FEWEST = 3
"""Networks that an error is stated of."""
TWINS = {"dla1": "dla0", "npu1": "npu0", "npu2": "npu0"}
HEIRS = {("jetson-agx-orin", dla): "jetson-agx-orin-32gb" for dla in ("dla0", "dla1")}
"""Units that were measured on a platform whose file takes them from this one."""
MOST_SCALED = 0.8
"""Share of a smaller memory that a unit draws with the bandwidth of its like on a larger one."""
COLUMNS = (
    Column("platform", "platform"),
    Column("unit", "unit"),
    Column("precision", "format"),
    Column("networks", "networks", "d"),
    Column("estimate", "estimate in use", ".1%"),
    Column("median", "left out, median", ".1%"),
    Column("p90", "90th percentile", ".1%"),
    Column("worst", "worst", ".1%"),
    Column("constant", "constant, median", ".1%"),
)


@dataclass(frozen=True)
class Row:
    """Relative errors of one entry's networks."""

    platform: str
    unit: str
    precision: str
    networks: int
    estimate: float
    median: float
    p90: float
    worst: float
    constant: float | None


def rows_of(samples: Sequence[Sample], predicted: FloatArray) -> list[Row]:
    """Return a row for each entry."""
    found = []
    for entry in dict.fromkeys(s.measured.entry for s in samples):
        places = [k for k, s in enumerate(samples) if s.measured.entry == entry]
        own = [samples[k] for k in places]
        ms = np.array([s.measured.ms for s in own])
        errors = np.abs(predicted[places] / ms - 1)
        constant = np.abs(by_constant(own) / ms - 1)
        found.append(
            Row(
                *entry,
                networks=len({s.measured.network for s in own}),
                estimate=median(abs(s.estimate_ms / s.measured.ms - 1) for s in own),
                median=float(np.median(errors)),
                p90=float(np.quantile(errors, 0.9)),
                worst=float(errors.max()),
                constant=None if np.isnan(constant).any() else float(np.median(constant)),
            )
        )
    return found


def write(pool: Pool, fit: Fit, rows: Sequence[Row]) -> None:
    """Write a pool's figures into all platform files that have one of its units."""
    errors = {(row.platform, row.unit, row.precision): row for row in rows}
    for name in platform_names():
        for unit in load_platform(name).units:
            for peak in unit.peaks:
                entry = (name, unit.name, peak.precision)
                if pool.holds(entry):
                    _write_entry(pool, fit, entry, errors)


def _write_entry(pool: Pool, fit: Fit, entry: Entry, errors: Mapping[Entry, Row]) -> None:
    platform, unit, precision = entry
    text = "Efficiencies, bandwidth share and fixed times: "
    candidates = [e for e in errors if _stands_for(e, entry)]
    own = entry if entry in candidates else next(iter(candidates), None)
    if own is None:
        text += f"usual ones of {pool.name} (python -m benchmarks.fit_costs); assumed."
        figures = peak_figures(fit.usual(), pool.tile_of(entry), None)
        write_peak(platform, unit, precision, figures, text, "assumed")
        return
    row = errors[own]
    error = None
    if row.networks >= FEWEST and row.constant is not None:
        percent = (Fraction(100 * value) for value in (row.median, row.p90, row.constant))
        error = FitError(row.networks, *percent)
    text += (
        f"fitted with {pool.name} to the times of {row.networks} networks"
        f"{'' if own[0] == platform else f' on {own[0]}'} (python -m benchmarks.fit_costs)."
    )
    fitted = fit.figures(own)
    if own[0] != platform and pool.kind != "cpu":
        ratio = load_platform(own[0]).memory_peak_kbps / load_platform(platform).memory_peak_kbps
        share = max(fitted.share, min(MOST_SCALED, fitted.share * ratio))
        fitted = replace(fitted, share=share)
    figures = peak_figures(fitted, pool.tile_of(entry), error)
    write_peak(platform, unit, precision, figures, text, "derived")


def _stands_for(measured: Entry, entry: Entry) -> bool:
    """Return whether an entry is, or takes the figures of, a measured one: of its unit's twin, or
    of the same unit of a platform that its file extends, or that extends it for all but this unit.
    """
    alike = measured[1] == entry[1] or measured[1] == TWINS.get(entry[1])
    extended = platform_extends(entry[0])
    here = measured[0] in (entry[0], extended, HEIRS.get((entry[0], entry[1])))
    return alike and here and measured[2] == entry[2]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every fit's errors."""
    options = parser("benchmarks.fit_costs", "The cost model's figures, from measured networks.")
    options.add_argument("--pool", choices=[pool.name for pool in POOLS], metavar="NAME")
    options.add_argument("--write", action="store_true", help="write the platform files")
    options.add_argument("--markdown", action="store_true")
    chosen = options.parse_args(arguments)
    rows = []
    for pool in POOLS:
        if chosen.pool in (None, pool.name):
            samples = pool.samples()
            found = rows_of(samples, left_out(samples, pool.prior))
            rows += found
            if chosen.write:
                write(pool, fit_pool(samples, pool.prior), found)
    title = "Networks left out one at a time"
    shown = [asdict(row) for row in rows]
    show(title, COLUMNS, shown, as_json=chosen.json, as_markdown=chosen.markdown)


if __name__ == "__main__":
    main()
