"""What one measured network says of the others on a unit that no fit contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.fit_costs.errors import logs_of, scales_of, within
from benchmarks.fit_costs.fit import left_out, units_left_out
from benchmarks.fit_costs.pools import Pool
from benchmarks.fit_costs.samples import Sample
from benchmarks.harness.report import Column, Value
from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.costs.taught import posterior
from paretosoc.platforms.measurement import Comparison
from paretosoc.results.costs.cost_origins import CostError

BY_MACS, ESTIMATE, FACTOR, SCALED = "constant", "estimate", "factor", "scaled"
COLUMNS = (
    Column("pool", "units"),
    Column("pairs", "pairs", "d"),
    Column("constant_median", "constant, median", ".1%"),
    Column("estimate_median", "estimate, median", ".1%"),
    Column("estimate_p90", "90th percentile", ".1%"),
    Column("factor_median", "one factor, median", ".1%"),
    Column("factor_p90", "90th percentile", ".1%"),
    Column("scaled_median", "scaled, median", ".1%"),
    Column("scaled_p90", "90th percentile", ".1%"),
    Column("within_90", "within 90 %", ".0%"),
    Column("narrower", "interval", ".2f"),
)


@dataclass(frozen=True, eq=False)
class Another:
    """Networks, each after one other was measured on a unit that is in no fit, arrays [pairs].

    ``laws``: to predicted times in ms. ``ratios``: |error| of the scaled estimate over its stated
    scale. ``before``, ``after``: stated errors.
    """

    measured: FloatArray
    laws: dict[str, FloatArray]
    ratios: FloatArray
    before: CostError
    after: CostError


def another_network(pool: Pool, samples: Sequence[Sample]) -> Another:
    """Leave each unit of a pool out of the fit, then take one network after the other as measured
    there, and predict all others of the same number format: by its time per multiply-accumulate, by
    the estimate, by this times the whole ratio of the measured network, and as scaled by
    :func:`fitness.costs.taught.posterior`."""
    of_units = units_left_out(samples, pool.prior)
    logs = logs_of(samples, left_out(samples, pool.prior))
    scales = scales_of(logs, logs_of(samples, of_units))
    before = CostError(unit=round(1000 * scales.new_unit), network=round(1000 * scales.usual))
    after, measured, ratios = before, list[float](), list[float]()
    laws: dict[str, list[float]] = {BY_MACS: [], ESTIMATE: [], FACTOR: [], SCALED: []}
    for entry in dict.fromkeys(one.measured.entry for one in samples):
        own = [k for k, one in enumerate(samples) if one.measured.entry == entry]
        for name in dict.fromkeys(samples[k].measured.network for k in own):
            known = [k for k in own if samples[k].measured.network == name]
            comparisons = [_compared(samples[k], float(of_units[k])) for k in known]
            factor, after = posterior(before, comparisons)
            bare = np.exp(
                np.mean([np.log(one.measured_ps / one.estimated_ps) for one in comparisons])
            )
            rate = np.mean([samples[k].measured.ms / samples[k].macs for k in known])
            for k in own:
                if k in known:
                    continue
                times = (
                    rate * samples[k].macs,
                    of_units[k],
                    of_units[k] * bare,
                    of_units[k] * float(factor),
                )
                for law, time in zip(laws.values(), times, strict=True):
                    law.append(float(time))
                measured.append(samples[k].measured.ms)
                off = abs(np.log(measured[-1] / times[-1]))
                ratios.append(1000 * float(off) / after.of_network)
    predicted = {law: np.array(found) for law, found in laws.items()}
    return Another(np.array(measured), predicted, np.array(ratios), before, after)


def _compared(sample: Sample, estimate_ms: float) -> Comparison:
    _, unit, precision = sample.measured.entry
    measured, estimated = (round(ms * PS_PER_MS) for ms in (sample.measured.ms, estimate_ms))
    return Comparison(sample.measured.network, unit, precision, measured, estimated)


def another_row(name: str, found: Another) -> dict[str, Value]:
    """Return the row of a pool."""
    row: dict[str, Value] = {"pool": name, "pairs": len(found.measured)}
    for law, times in found.laws.items():
        errors = np.abs(times / found.measured - 1)
        row |= {
            f"{law}_median": float(np.median(errors)),
            f"{law}_p90": float(np.quantile(errors, 0.9)),
        }
    row["within_90"] = within(found.ratios, 0.9)
    row["narrower"] = found.after.of_network / found.before.of_network
    return row
