"""Published times at the fastest clocks: of networks alone and together, and repeats of others."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from benchmarks.catalogue.yolo import SIZES
from benchmarks.fit_costs.fit import by_constant, left_out
from benchmarks.fit_costs.pools import POOLS
from benchmarks.fit_costs.samples import (
    LATER_FAMILIES,
    NEW_FAMILIES,
    Sample,
    of_sets,
    published,
    sample,
)
from benchmarks.validation.known_plans import co_runs_of, known_plans
from benchmarks.validation.published import read_set
from benchmarks.validation.scores import Comparison
from examples.hax import table6
from examples.hax.published import METHODS, experiments
from paretosoc.platforms.platform import Tile
from paretosoc.sdf.catalogue.catalogue import catalogue

RESIZED = ("FCN", "Depth Anything")
"""Families whose times in FP16 tell what a linear resize takes on Snapdragon's NPUs."""
UNFITTED = {
    "xavier_mlperf11": ("Xavier's GPUs, MLPerf's times", "no network of theirs in INT8"),
    "orin_nx_mlperf31": ("Orin NX's GPU, MLPerf's times", "YOLO11 in INT8 there"),
    "tkdnn_yolov4": ("Xavier's and TX2's GPUs, YOLOv4 by tkDNN", "networks of other families"),
    "aicast_yolox": ("Orin Nano's GPU, YOLOX by trtexec", "other networks and sizes"),
    "fcn_resnet18": ("Xavier's and Nano's GPUs, FCN-ResNet-18", "networks of other families"),
    "cudla_yolov5s": ("Orin's GPU and DLA, YOLOv5s", "networks of other families"),
    "mmdeploy_classifiers": ("Nano's and TX2's GPUs, MMDeploy's classifiers", "ResNets on Nano"),
    "openvino_155h": ("Core Ultra's CPU and NPU, OpenVINO's times", "nothing in INT8"),
}
"""Sets with times that no pool is fitted to: a title, and what the unit's figures are fitted to."""
CO_RUNS = "HaX-CoNN's Table 6, our schedules beside theirs, time"
ARTIFACT = "HaX-CoNN's artifact, our schedules beside theirs, time"


def alone() -> list[Comparison]:
    """Predict each network from the others (benchmarks.fit_costs), and by one time per
    multiply-accumulate. Networks that no pool is fitted to are predicted by the platform files."""
    found = []
    for pool in POOLS:
        samples = pool.samples()
        entries = list(dict.fromkeys(s.measured.entry for s in samples))
        samples.sort(key=lambda s: entries.index(s.measured.entry))
        by_macs = np.concatenate(
            [by_constant([s for s in samples if s.measured.entry == entry]) for entry in entries]
        )
        known = ~np.isnan(by_macs)
        measured = np.array([s.measured.ms for s in samples])
        data, fitted_to = f"{pool.name}, time of a network", "other networks"
        for law, times in (
            ("time per MAC", by_macs),
            ("the program's estimate", left_out(samples, pool.prior)),
        ):
            found.append(Comparison(data, fitted_to, law, "ms", times[known], measured[known]))
    for name, (title, fitted_to) in UNFITTED.items():
        pools = [pool for pool in POOLS if name in pool.more_sets]
        unseen = [
            sample(one, Tile(), ())
            for one in of_sets([name])
            if not any(pool.holds(one.entry) for pool in pools)
        ]
        formats = sorted({one.measured.entry[2] for one in unseen})
        groups = {
            each: [one for one in unseen if one.measured.entry[2] == each] for each in formats
        }
        # A row and a picture of a single time would say nothing.
        if min(map(len, groups.values())) == 1:
            groups = {"all formats": unseen}
        for which, rows in groups.items():
            times = np.array([one.estimate_ms for one in rows])
            measured = np.array([one.measured.ms for one in rows])
            data, law = f"{title}, {which}", "the program's estimate"
            found.append(Comparison(data, fitted_to, law, "ms", times, measured))
    return found


def new_families() -> list[Comparison]:
    """Hold networks of families that no figure was fitted to against the platform files, and
    against one time per multiply-accumulate: the median of the known networks of the unit and
    format, if there are any. A pool that is fitted to them is fitted again without the family."""
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    measured = of_sets((*NEW_FAMILIES, *LATER_FAMILIES))
    entries = {one.entry for one in measured}
    known = [one for one in published() if one.entry in entries]
    for pool in POOLS:
        rates = dict.fromkeys(entries, float("nan"))
        own = pool.samples(known) if any(pool.holds(one.entry) for one in known) else []
        for entry in {s.measured.entry for s in own}:
            rates[entry] = median(s.measured.ms / s.macs for s in own if s.measured.entry == entry)
        new = pool.samples(measured)
        estimates = [one.estimate_ms for one in new]
        samples = pool.samples() if pool.more_sets else []
        if {*new} & {*samples}:
            # It is fitted to them: the same objects, for samples are made once.
            times = dict(zip(samples, left_out(samples, pool.prior, _family), strict=True))
            estimates = [times.get(one, one.estimate_ms) for one in new]
        for one, estimate in zip(new, estimates, strict=True):
            found.setdefault((f"{pool.name}, new families, time", _family(one)), []).append(
                (one.macs * rates[one.measured.entry], estimate, one.measured.ms)
            )
    fitted_to = {
        key: f"families other than {key[1]}"
        + (", and its resizes" if key[1] in RESIZED and "FP16" in key[0] else "")
        for key in found
    }
    return [
        Comparison(data, fitted_to[data, family], law, "ms", times, measured_ms)
        for (data, family), rows in sorted(found.items())
        for by_macs, estimates_ms, measured_ms in [np.array(rows).T]
        for law, times in (("time per MAC", by_macs), ("the program's estimate", estimates_ms))
        if not np.isnan(times).any()
    ]


def _family(sample: Sample) -> str:
    """Return the family of a network."""
    name = sample.measured.network
    if name in SIZES:
        return SIZES[name].family.title
    return next(entry.family for entry in catalogue() if entry.name == name)


def co_runs() -> list[Comparison]:
    """Compare times of given schedules, then times under each scheduler, ours beside theirs.

    HaX-CoNN's Table 6 has ten co-runs under five schedulers. Four were repeated by its authors.
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
    """Return co-runs of networks without names: no traffic is known, so the model has no answer."""
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
    """Compare the same measurement by other people: the least error to expect."""
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
