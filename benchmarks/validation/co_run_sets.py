"""Published times at the fastest clocks: of networks alone and together, and repeats of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks import fit_costs
from benchmarks.validation.known_plans import co_runs_of, known_plans
from benchmarks.validation.published import read_set
from benchmarks.validation.scores import Comparison, joined
from examples.hax import table6
from examples.hax.published import METHODS, experiments

ALONE = "Xavier, Orin, HaX-CoNN's Table 5, time"
CO_RUNS = "HaX-CoNN's Table 6, our schedules beside theirs, time"
ARTIFACT = "HaX-CoNN's artifact, our schedules beside theirs, time"


def alone() -> list[Comparison]:
    """Each network predicted from the others (benchmarks.fit_costs); beside it, a time per
    multiply-accumulate."""
    by_macs, by_model = [], []
    for board in fit_costs.BOARDS:
        for unit in fit_costs.UNITS:
            samples = fit_costs.samples_of(board, unit)
            measured = np.array([sample.measured_ms for sample in samples])
            macs = np.array([sample.macs.sum() for sample in samples])
            errors = fit_costs.fit_unit(board, unit).left_out_errors
            model = measured * (1 + np.array([errors[sample.network] for sample in samples]))
            rates = measured / macs
            naive = [
                float(np.median(np.delete(rates, place))) * macs[place]
                for place in range(len(macs))
            ]
            fitted_to = "the other networks on the unit"
            by_macs.append(Comparison(ALONE, fitted_to, "by MACs", "ms", np.array(naive), measured))
            by_model.append(Comparison(ALONE, fitted_to, "roofline", "ms", model, measured))
    return [joined(by_macs), joined(by_model)]


def co_runs() -> list[Comparison]:
    """Compare times of given schedules, then times under each scheduler, ours beside theirs.

    HaX-CoNN's Table 6 has ten co-runs under five schedulers; four were repeated by its authors.
    """
    rows = experiments()
    results = {row.number: both for row, *both in table6.predicted(rows)}
    published = {row.number: row.published_ms for row in rows}
    repeated = co_runs_of("artifact")
    keys = [(run.experiment, run.scheduler) for run in repeated]
    again = np.array([run.measured_ms for run in repeated])
    all_keys = [(number, method) for number in results for method in METHODS]
    paper = np.array([published[number][method] for number, method in all_keys])
    found = known_plans(rows)
    for data, wanted, measured in ((CO_RUNS, all_keys, paper), (ARTIFACT, keys, again)):
        for place, law in ((1, "no contention"), (0, "with contention")):
            times = np.array([results[number][place].ms[method] for number, method in wanted])
            found.append(Comparison(data, "networks alone", law, "ms", times, measured))
    original = np.array([published[number][method] for number, method in keys])
    found.append(Comparison(ARTIFACT, "the same co-runs", "Table 6 itself", "ms", original, again))
    return found


def named_units() -> list[Comparison]:
    """Co-runs of networks that have no name: no traffic is known, so the model has no answer."""
    data = read_set("orin_co_runs")
    return [
        Comparison(
            "Orin, GPU and two DLAs together, time",
            "units alone",
            "no contention",
            "ms",
            np.array(data.numbers("alone")),
            np.array(data.numbers("latency")),
        )
    ]


def repeats() -> list[Comparison]:
    """The same measurement by other people: the least error to expect."""
    dla, mlperf = read_set("orin_dla_repeat"), read_set("orin_maxq_repeat")
    found = [
        _repeat("Orin, DLA, MAXN, repeated, rate", dla.rows, ("published", "repeated"), unit="1/s")
    ]
    for kind, words in (
        ("time and rate", ("latency", "rate")),
        ("power and energy", ("power", "energy")),
    ):
        rows = [row for row in mlperf.rows if str(row["figure"]).endswith(words)]
        found.append(
            _repeat(
                f"Orin, MLPerf MaxQ, repeated, {kind}", rows, ("submitted", "repeated"), unit=""
            )
        )
    return found


def _repeat(
    data: str, rows: Sequence[dict[str, str | float]], columns: tuple[str, str], *, unit: str
) -> Comparison:
    first, second = (np.array([float(row[column]) for row in rows]) for column in columns)
    return Comparison(data, "the same", "first measurement", unit, first, second)
