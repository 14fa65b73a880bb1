"""Every set of published measurements, and what is predicted of it by what."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks import fit_costs
from benchmarks.accuracy import table2
from benchmarks.accuracy.board_power import TABLE as XAVIER
from benchmarks.accuracy.board_power import compare
from benchmarks.validation.laws import (
    NAIVE,
    NORM,
    NORM_CONSTANT,
    NORM_OUTSIDE,
    STALL,
    SUM,
    Law,
    Subject,
    few_points,
    fitted,
    one_run,
    slowdowns,
)
from benchmarks.validation.published import DataSet, read_set
from benchmarks.validation.qai_llm import snapdragon_llm
from benchmarks.validation.rknn_llm import rockchip_llm
from benchmarks.validation.scores import Comparison, joined
from common.arrays import FloatArray
from examples.hax import table6
from examples.hax.published import METHODS, experiments
from fitness.calibration.dvfs import DEFAULT_NOISE, calibrate_rows, predicted
from fitness.calibration.dvfs_table import ClockMeasurement
from fitness.calibration.least_squares import fit
from fitness.cost_model.dvfs_forms import (
    PowerForm,
    clocks_of,
    point_at,
    power_mw,
    power_parameters,
    time_ms,
)
from fitness.costs.network_costs import network_costs
from platforms.io.platform_file import load_platform
from sdf.catalogue.catalogue import load_network
from sdf.grouping.grouping import group_network

TX2 = "TX2, GPU x memory clocks, time"
TX2_USED = ((1300.5, 1866.0), (1300.5, 1062.4), (114.75, 1866.0), (726.75, 1062.4))
"""GPU and memory clock, MHz: fastest, slow memory, slow GPU, and a middle GPU at slow memory."""
TX2_CORNERS = ((1300.5, 1866.0), (1300.5, 1062.4), (114.75, 1866.0), (114.75, 1062.4))
NANO = "Orin Nano, GPU x memory clocks, time"
NANO_USED = ((1020.0, 3199.0), (1020.0, 665.6), (306.0, 3199.0), (612.0, 665.6))
GPU_CLOCKS = "Xavier, Xavier NX, Nano, GPU clocks, time"
GPU_ENERGY = "Xavier, Xavier NX, Nano, GPU clocks, energy"
BATCHES = {"xavier-nx": (1, 8), "nano": (1, 8), "agx-xavier": (1, 16)}
CLASSIFIED = ("batch 1 on xavier-nx", "batch 1 on nano")
"""Where the share of the launches that follows the GPU's clock was not set."""
DLA_MODES = "Orin, two DLAs, power modes, time"
TANG = "TX2, Tang's Table 2, time"
ALONE = "Xavier, Orin, HaX-CoNN's Table 5, time"
CO_RUNS = "HaX-CoNN's Table 6, time"
ARTIFACT = "HaX-CoNN's artifact, Xavier, time"
ONE_RUN = "one run; shape of the others"


def tx2_subjects(used: Sequence[tuple[float, float]] = TX2_USED) -> list[Subject]:
    """The networks of the TX2 grid; ``used``: GPU and memory clocks in the fit of a few."""
    return _grid_subjects("tx2_gpu_memory", used)


def _grid_subjects(data: str, used: Sequence[tuple[float, float]]) -> list[Subject]:
    """The networks of a grid of GPU and memory clocks; the first of ``used`` is the fastest."""
    subjects = []
    for name, rows in _by(read_set(data), "network"):
        pairs = [(float(row["gpu"]), float(row["memory"])) for row in rows]
        subjects.append(
            Subject(
                name=name,
                group=name,
                clocks=slowdowns([gpu for gpu, _ in pairs], [memory for _, memory in pairs]),
                measured_ms=np.array([float(row["latency"]) for row in rows]),
                used=tuple(pairs.index(pair) for pair in used),
                fastest=pairs.index(used[0]),
            )
        )
    return subjects


def tx2_grid() -> list[Comparison]:
    """Four points (the corners for comparison), one run, and for VGG-19 none at all."""
    laws = (NAIVE, SUM, NORM, NORM_CONSTANT)
    subjects = tx2_subjects()
    (vgg19,) = (subject for subject in subjects if subject.name == "vgg19")
    return [
        *_few(TX2, "4 of 52 points of each network", laws, subjects),
        *_few(
            TX2, "the 4 corners of each network", (SUM, NORM_CONSTANT), tx2_subjects(TX2_CORNERS)
        ),
        *_one(TX2, ONE_RUN, laws, subjects),
        *(
            _by_default(TX2, fitted_to, "jetson-tx2", "gpu", _tables("tx2_gpu_memory"), used)
            for fitted_to, used in (
                ("4 of 52 points of each network", TX2_USED),
                ("one run; the platform's shares", TX2_USED[:1]),
            )
        ),
        Comparison(
            TX2, "nothing; VGG-19", "the program's estimate", "ms", estimate_ms(), vgg19.measured_ms
        ),
    ]


def nano_grid() -> list[Comparison]:
    """Four points of each subject; for the two networks one run and the shape of the other."""
    laws = (NAIVE, SUM, NORM)
    data = "orin_nano_gpu_memory"
    subjects = _grid_subjects(data, NANO_USED)
    networks = [subject for subject in subjects if subject.name in ("mobilenet", "vit")]
    fitted_to = "4 of 24 points of each network or kernel"
    tables = _tables(data)
    return [
        *_few(NANO, fitted_to, (*laws, NORM_OUTSIDE), subjects),
        _by_default(NANO, fitted_to, "jetson-orin-nano-8gb", "gpu", tables, NANO_USED),
        *_one(NANO, "one run; shape of the other network", laws, networks),
    ]


def estimate_ms() -> FloatArray:
    """VGG-19 by the platform file alone, at every point of the grid and the fastest CPU clock."""
    platform = load_platform("jetson-tx2")
    costs = network_costs(group_network(load_network("vgg19").graph, None, groups=1), platform)
    unit = platform.unit_by_name["gpu"]
    picoseconds = costs.units[platform.units.index(unit)].time_ps.sum(axis=0)
    ladders = [
        [point.frequency_khz for point in platform.domain_by_name[name].operating_points]
        for name in ("gpu", "emc")
    ]
    rows = [row for row in read_set("tx2_gpu_memory").rows if row["network"] == "vgg19"]
    points = [
        tuple(
            ladder.index(round(1000 * float(row[column])))
            for ladder, column in zip(ladders, ("gpu", "memory"), strict=True)
        )
        for row in rows
    ]
    return np.array([picoseconds[gpu, -1, memory] / 1e9 for gpu, memory in points])


def tang() -> list[Comparison]:
    """GPU and CPU clocks: the host's clock counts."""
    platform = load_platform(table2.PLATFORM)
    unit = platform.unit_by_name["gpu"]
    subjects = []
    for name, nine in table2.published().items():
        points = np.array([entry.measurement.points for entry in nine], dtype=np.int64)
        subjects.append(
            Subject(
                name=name,
                group=name,
                clocks=clocks_of(platform, unit, points),
                measured_ms=np.array([1000 / entry.fps for entry in nine]),
                used=table2.CALIBRATED,
                fastest=int(np.argmax(points[:, :2].sum(axis=1))),
            )
        )
    return _few(TANG, "5 of 9 points of each network", (NAIVE, SUM, NORM, STALL), subjects)


def board_subjects(batches: Mapping[str, tuple[int, ...]]) -> list[tuple[Subject, FloatArray]]:
    """Boards at batch sizes, with the energy of a batch in mJ, [n] rising GPU clocks."""
    tables: list[tuple[str, int, list[tuple[float, float, float]]]] = []
    data = read_set("jetson_gpu_clocks")
    for board, rows in _by(data, "board"):
        for batch in batches.get(board, ()):
            chosen = [row for row in rows if row["batch"] == batch]
            cells = [
                tuple(float(row[key]) for key in ("gpu", "latency", "energy")) for row in chosen
            ]
            tables.append((board, batch, [(mhz, ms, mj) for mhz, ms, mj in cells]))
    with XAVIER.open(encoding="utf-8") as file:
        xavier = list(csv.DictReader(file))
    for batch in batches.get("agx-xavier", ()):
        points = []
        for line in xavier:
            ms = 1000 * batch / float(line[f"batch{batch}_per_s"])
            points.append((float(line["gpu_mhz"]), ms, ms * float(line[f"batch{batch}_w"])))
        tables.append(("agx-xavier", batch, points))
    found = []
    for board, batch, points in tables:
        mhz, times, energies = (np.array(column) for column in zip(*points, strict=True))
        last = len(mhz) - 1
        subject = Subject(
            name=f"batch {batch} on {board}",
            group=board,
            clocks=slowdowns(mhz.tolist()),
            measured_ms=times,
            used=(0, last // 4, last // 2, last),
            fastest=last,
        )
        found.append((subject, energies))
    return found


def gpu_clocks() -> list[Comparison]:
    """Four GPU clocks of a board, one with the shape of other boards, one with the platform's."""
    laws = (NAIVE, SUM, NORM)
    subjects = [subject for subject, _ in board_subjects(BATCHES)]
    return [
        *_few(GPU_CLOCKS, "4 clocks of each board and batch", (*laws, NORM_OUTSIDE), subjects),
        *_one(GPU_CLOCKS, "one run; shape of other boards", laws, subjects),
        *map(
            joined, zip(*[_as_classifier(s) for s in subjects if s.name in CLASSIFIED], strict=True)
        ),
    ]


def _as_classifier(subject: Subject) -> tuple[Comparison, Comparison]:
    """One run of a classifier without a name, and how the program's ResNet-50 follows the clock;
    the naive law before it."""
    platform = load_platform(f"jetson-{subject.group}")
    network = group_network(load_network("resnet50").graph, None, groups=1)
    (costs,) = network_costs(network, platform, units=["gpu"]).units
    ladder = platform.domain_by_name["gpu"].operating_points
    fastest = ladder[-1].frequency_khz
    slowdown = [fastest / point.frequency_khz for point in reversed(ladder)]
    times = np.interp(subject.clocks.own, slowdown, costs.time_ps.sum(axis=0)[::-1, -1])
    keep = np.arange(len(times)) != subject.fastest
    fitted_to = "one run; launches of AGX Xavier, batch 1"

    def compared(law: str, shape: FloatArray) -> Comparison:
        scaled = shape / shape[subject.fastest] * subject.measured_ms[subject.fastest]
        return Comparison(GPU_CLOCKS, fitted_to, law, "ms", scaled[keep], subject.measured_ms[keep])

    return (
        compared(NAIVE.name, subject.clocks.own),
        compared("the program's ResNet-50", times),
    )


def gpu_energy() -> list[Comparison]:
    """Batch 1: time by a law, power by static + own f/f0, both at the same four clocks."""
    found = []
    for law in (NAIVE, SUM, NORM):
        parts = []
        for subject, energy in board_subjects(dict.fromkeys(BATCHES, (1,))):
            power = 1000 * energy / subject.measured_ms
            times = time_ms(fitted(law, subject, subject.used), subject.clocks)
            if law is NAIVE:
                watts = np.full(len(power), power[subject.fastest])
            else:
                values = fit(
                    power_parameters(PowerForm.VOLTAGE, hosted=False),
                    partial(_power, subject),
                    power[list(subject.used)],
                    noise=DEFAULT_NOISE,
                    label=subject.name,
                    resamples=0,
                ).values
                watts = power_mw(values, subject.clocks, PowerForm.VOLTAGE, {})
            parts.append((subject, times * watts / 1000, energy))
        found.append(
            joined(
                [
                    _held_out(GPU_ENERGY, "4 clocks of each board", law, "mJ", s, predicted, energy)
                    for s, predicted, energy in parts
                ]
            )
        )
    return found


def _power(subject: Subject, values: dict[str, float]) -> FloatArray:
    return power_mw(values, subject.at(subject.used), PowerForm.VOLTAGE, {})


def board_power() -> list[Comparison]:
    """The power model of the Xavier's file (benchmarks.accuracy.board_power)."""
    rows = compare()
    measured = np.array([row.measured_w for row in rows])
    fitted_to = "other batches' power, this one's speed"
    data = "Xavier, GPU clocks, board power"
    return [
        Comparison(data, fitted_to, "constant", "W", np.full(len(rows), measured[-1]), measured),
        Comparison(
            data,
            fitted_to,
            "platform file",
            "W",
            np.array([row.predicted_w for row in rows]),
            measured,
        ),
    ]


def dla_modes() -> list[Comparison]:
    """One power mode of a network, and the shape of the other networks. Three pairs of clocks do
    not determine a constant inside the norm."""
    subjects = []
    for name, rows in _by(read_set("orin_dla_modes"), "network"):
        subjects.append(
            Subject(
                name=name,
                group=name,
                clocks=slowdowns(
                    [float(row["dla"]) for row in rows], [float(row["memory"]) for row in rows]
                ),
                measured_ms=np.array([1000 / float(row["rate"]) for row in rows]),
                used=(),
                fastest=0,
            )
        )
    tables = [
        (name, [(dla, memory, 1000 / rate) for dla, memory, rate in rows])
        for name, rows in _tables("orin_dla_modes")
    ]
    return [
        *_one(DLA_MODES, ONE_RUN, (NAIVE, SUM, NORM), subjects),
        _by_default(
            DLA_MODES,
            "one run; the platform's shares",
            "jetson-agx-orin",
            "dla0",
            tables,
            ((1600, 3199),),
        ),
    ]


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
    """Ten co-runs by five schedulers, and four of them repeated by the same authors."""
    rows = experiments()
    results = {row.number: both for row, *both in table6.predicted(rows)}
    published = {row.number: row.published_ms for row in rows}
    repeated = read_set("hax_artifact_co_runs")
    keys = [(int(row["experiment"]), str(row["scheduler"])) for row in repeated.rows]
    again = np.array(repeated.numbers("latency"))
    all_keys = [(number, method) for number in results for method in METHODS]
    paper = np.array([published[number][method] for number, method in all_keys])
    found = []
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


def _by(data: DataSet, column: str) -> list[tuple[str, list[dict[str, str | float]]]]:
    names = dict.fromkeys(str(row[column]) for row in data.rows)
    return [(name, [row for row in data.rows if row[column] == name]) for name in names]


def _few(
    data: str, fitted_to: str, laws: Sequence[Law], subjects: Sequence[Subject]
) -> list[Comparison]:
    return [
        joined(
            [
                _held_out(data, fitted_to, law, "ms", s, few_points(law, s), s.measured_ms)
                for s in subjects
            ]
        )
        for law in laws
    ]


def _one(
    data: str, fitted_to: str, laws: Sequence[Law], subjects: Sequence[Subject]
) -> list[Comparison]:
    """Each subject by its time at the fastest clocks and those of other groups."""
    found = []
    for law in laws:
        parts = []
        for subject in subjects:
            others = [other for other in subjects if other.group != subject.group]
            times = one_run(law, subject, others)
            keep = np.arange(len(times)) != subject.fastest
            parts.append(
                Comparison(data, fitted_to, law.name, "ms", times[keep], subject.measured_ms[keep])
            )
        found.append(joined(parts))
    return found


def _tables(name: str) -> list[tuple[str, list[tuple[float, float, float]]]]:
    """Per network its rows of unit MHz, memory MHz and figure."""
    found = []
    for network, rows in _by(read_set(name), "network"):
        cells = [[float(cell) for cell in list(row.values())[-3:]] for row in rows]
        found.append((network, [(own, memory, figure) for own, memory, figure in cells]))
    return found


def _by_default(
    data: str,
    fitted_to: str,
    platform: str,
    unit: str,
    tables: Sequence[tuple[str, Sequence[tuple[float, float, float]]]],
    used: Sequence[tuple[float, float]],
) -> Comparison:
    """What ``dse calibrate`` makes of the runs at the clocks ``used`` without options; a host runs
    at its fastest clock."""
    chip = load_platform(platform)
    clocks = chip.unit_by_name[unit].clocks
    fastest = [len(chip.domain_by_name[name].operating_points) - 1 for name in clocks]
    parts = []
    for network, table in tables:
        rows = []
        for own_mhz, memory_mhz, ms in table:
            points = list(fastest)
            points[0] = point_at(chip, clocks[0], round(1000 * own_mhz), network)
            points[-1] = point_at(chip, clocks[-1], round(1000 * memory_mhz), network)
            rows.append(ClockMeasurement(network, "", unit, tuple(points), ms, None, None))
        keep = np.array([entry[:2] not in used for entry in table])
        kept = [row for row, held_out in zip(rows, keep, strict=True) if not held_out]
        times, _ = predicted(calibrate_rows(kept, chip, resamples=0), rows, chip)
        measured = np.array([ms for _, _, ms in table])
        parts.append(
            Comparison(data, fitted_to, "dse calibrate", "ms", times[keep], measured[keep])
        )
    return joined(parts)


def _held_out(
    data: str,
    fitted_to: str,
    law: Law,
    unit: str,
    subject: Subject,
    predicted: FloatArray,
    measured: FloatArray,
) -> Comparison:
    keep = np.ones(len(measured), dtype=np.bool_)
    keep[list(subject.used)] = False
    return Comparison(data, fitted_to, law.name, unit, predicted[keep], measured[keep])


SETS: dict[str, Callable[[], list[Comparison]]] = {
    "tx2-grid": tx2_grid,
    "nano-grid": nano_grid,
    "tang": tang,
    "gpu-clocks": gpu_clocks,
    "gpu-energy": gpu_energy,
    "board-power": board_power,
    "dla-modes": dla_modes,
    "alone": alone,
    "co-runs": co_runs,
    "named-units": named_units,
    "repeats": repeats,
    "rknn-llm": rockchip_llm,
    "qai-llm": snapdragon_llm,
}
"""In the order of the page."""


def comparisons(only: str | None = None) -> list[Comparison]:
    """All sets, or one of :data:`SETS`."""
    names = SETS if only is None else (only,)
    return [comparison for name in names for comparison in SETS[name]()]
