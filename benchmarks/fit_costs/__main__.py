"""Fit the figures of the cost model to measured networks, and predict each from the others.

Units of a pool are fitted together: a unit without measurements takes the usual figures of its
pool. Baselines: the platform file's estimate, whose figures have seen the network, and one time per
multiply-accumulate from the unit's other networks.

Usage: ``python -m benchmarks.fit_costs [--pool NAME] [--write | --intervals | --another]
[--json]``. ``--write`` puts the figures and errors into the platform files. ``--intervals`` prints
how often networks that were left out lie within the intervals that the others' errors give,
``--diagram FILE`` draws it.
``--another`` prints errors on units that were left out, once one other network is measured there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.fit_costs.another import COLUMNS as ANOTHER
from benchmarks.fit_costs.another import another_network, another_row
from benchmarks.fit_costs.errors import (
    Logs,
    Scales,
    calibration_error,
    held_out,
    logs_of,
    scales_of,
    widening,
    within,
)
from benchmarks.fit_costs.fit import Fit, by_constant, fit_pool, left_out, units_left_out
from benchmarks.fit_costs.pools import POOLS, Pool
from benchmarks.fit_costs.samples import Entry, Sample
from benchmarks.fit_costs.write import peak_figures, platform_extends, states_peak, write_peak
from benchmarks.harness.report import Column, Value, parser, show
from paretosoc.common.arrays import FloatArray
from paretosoc.common.text import pluralize
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.platform import FitError

FEWEST = 3
"""Networks that an error is stated of."""
HEIRS = {("jetson-agx-orin", "dla0"): "jetson-agx-orin-32gb"}
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
INTERVALS = (
    Column("platform", "platform"),
    Column("unit", "unit"),
    Column("precision", "format"),
    Column("rows", "rows", "d"),
    Column("widened", "widened by", ".2f"),
    Column("within_50", "within 50 %", ".0%"),
    Column("within_90", "within 90 %", ".0%"),
    Column("error", "calibration error", ".1%"),
)


@dataclass(frozen=True)
class Errors:
    """Errors of a pool: of each entry, and of units that were left out; how far they spread."""

    rows: dict[Entry, Row]
    median_of_units: float
    p90_of_units: float
    scales: Scales


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


def errors_of(pool: Pool, samples: Sequence[Sample], rows: Sequence[Row], logs: Logs) -> Errors:
    """Return the errors of a pool."""
    of_units = units_left_out(samples, pool.prior)
    known = bool(np.isfinite(of_units).all())
    off = np.abs(of_units / np.array([s.measured.ms for s in samples]) - 1)
    return Errors(
        {(row.platform, row.unit, row.precision): row for row in rows},
        float(np.median(off)),
        float(np.quantile(off, 0.9)),
        scales_of(logs, logs_of(samples, of_units) if known else None),
    )


def interval_rows(found: Mapping[str, Logs]) -> list[dict[str, Value]]:
    """Return a row for each entry, one for each pool, and one for all."""
    rows, every = [], list[float]()

    def add(labels: Sequence[str], widened: float | None, ratios: Sequence[float]) -> None:
        table = np.array(ratios)
        rows.append(
            {
                **dict(zip(("platform", "unit", "precision"), labels, strict=True)),
                "rows": len(ratios),
                "widened": widened,
                "within_50": within(table, 0.5),
                "within_90": within(table, 0.9),
                "error": calibration_error(table),
            }
        )

    for name, logs in found.items():
        widened = widening(logs)
        held = [(entry, ratio / widened[entry]) for entry, _, ratio in held_out(logs)]
        for entry in logs:
            add(entry, widened[entry], [ratio for own, ratio in held if own == entry])
        add((name, "all", ""), None, [ratio for _, ratio in held])
        every += [ratio for _, ratio in held]
    add(("all", "all", ""), None, every)
    return rows


def write(pool: Pool, fit: Fit, errors: Errors) -> None:
    """Write a pool's figures into all platform files that state one of its units' peaks."""
    for name in platform_names():
        for unit in load_platform(name).units:
            for peak in unit.peaks:
                entry = (name, unit.name, peak.precision)
                if pool.holds(entry) and states_peak(entry):
                    _write_entry(pool, fit, entry, errors)


def _write_entry(pool: Pool, fit: Fit, entry: Entry, errors: Errors) -> None:
    platform = entry[0]
    text = "Efficiencies, bandwidth share and fixed times: "
    candidates = [e for e in errors.rows if _stands_for(e, entry)]
    own = entry if entry in candidates else next(iter(candidates), None)
    scales = errors.scales
    if own is None:
        text += f"usual ones of {pool.name} (python -m benchmarks.fit_costs); assumed."
        error = _fit_error(
            0, errors.median_of_units, errors.p90_of_units, None, scales.new_unit, scales.usual
        )
        figures = peak_figures(fit.usual(), pool.tile_of(entry), pool.elements, error)
        write_peak(entry, figures, text, "assumed")
        return
    row = errors.rows[own]
    # An heir takes the peak from this file, so that its errors are stated here.
    is_own = own[0] in (platform, HEIRS.get((platform, entry[1])))
    known = is_own and row.networks >= FEWEST and row.constant is not None
    spread = scales.unit if known else scales.new_unit, scales.network[own]
    if known:
        error = _fit_error(row.networks, row.median, row.p90, row.constant, *spread)
    else:
        error = _fit_error(0, errors.median_of_units, errors.p90_of_units, None, *spread)
    fitted_to = {one.measured.network for one in pool.samples() if one.measured.entry == own}
    text += (
        f"fitted with {pool.name} to the times of {pluralize(len(fitted_to), 'network')}"
        f"{'' if own[0] == platform else f' on {own[0]}'} (python -m benchmarks.fit_costs)."
    )
    fitted = fit.figures(own)
    if own[0] != platform and pool.kind != "cpu":
        ratio = load_platform(own[0]).memory_peak_kbps / load_platform(platform).memory_peak_kbps
        share = max(fitted.share, min(MOST_SCALED, fitted.share * ratio))
        fitted = replace(fitted, share=share)
    figures = peak_figures(fitted, pool.tile_of(entry), pool.elements, error)
    write_peak(entry, figures, text, "derived")


def _fit_error(
    networks: int, median: float, p90: float, constant: float | None, unit: float, network: float
) -> FitError:
    return FitError(
        networks,
        Fraction(100 * median),
        Fraction(100 * p90),
        Fraction(100 * unit),
        Fraction(100 * network),
        None if constant is None else Fraction(100 * constant),
    )


def _stands_for(measured: Entry, entry: Entry) -> bool:
    """Return whether an entry is, or takes the figures of, a measured one: of the same unit of a
    platform that its file extends, or that extends it for all but this unit.
    """
    extended = platform_extends(entry[0])
    here = measured[0] in (entry[0], extended, HEIRS.get((entry[0], entry[1])))
    return here and measured[1:] == entry[1:]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every fit's errors."""
    options = parser("benchmarks.fit_costs", "The cost model's figures, from measured networks.")
    options.add_argument("--pool", choices=[pool.name for pool in POOLS], metavar="NAME")
    options.add_argument(
        "--write",
        action="store_true",
        help="write the platform files; twice, as errors of other families are those of the files",
    )
    options.add_argument("--intervals", action="store_true", help="hold them against errors")
    options.add_argument(
        "--diagram", type=Path, metavar="FILE", help="draw shares against stated probabilities"
    )
    options.add_argument("--another", action="store_true", help="one other network is measured")
    options.add_argument("--markdown", action="store_true")
    chosen = options.parse_args(arguments)
    rows, found, lessons = list[Row](), dict[str, Logs](), list[dict[str, Value]]()
    for pool in POOLS:
        if chosen.pool in (None, pool.name):
            samples = pool.samples()
            if chosen.another:
                if len({one.measured.entry[:2] for one in samples}) > 1:
                    lessons.append(another_row(pool.name, another_network(pool, samples)))
                continue
            judges = pool.judges()
            estimates = np.array([one.estimate_ms for one in judges])
            predicted = np.concatenate([left_out(samples, pool.prior), estimates])
            held = [*samples, *judges]
            own, logs = rows_of(held, predicted), logs_of(held, predicted)
            rows += own
            found[pool.name] = logs
            if chosen.write:
                write(pool, fit_pool(samples, pool.prior), errors_of(pool, samples, own, logs))
    title = "Networks left out one at a time"
    shown: Sequence[Mapping[str, Value]] = [asdict(row) for row in rows]
    if chosen.intervals:
        shown = interval_rows(found)
    if chosen.diagram is not None:
        from benchmarks.fit_costs.reliability import diagram, ratios_of

        chosen.diagram.write_bytes(diagram(ratios_of(found)))
    columns: Sequence[Column] = INTERVALS if chosen.intervals else COLUMNS
    if chosen.another:
        title, columns, shown = "Units left out, one other network measured", ANOTHER, lessons
    show(title, columns, shown, as_json=chosen.json, as_markdown=chosen.markdown)


if __name__ == "__main__":
    main()
