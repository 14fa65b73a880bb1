"""Published times over clocks of GPUs and DLAs, and their predictions from fewer of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.accuracy import table2
from benchmarks.validation.host_sets import TANG, uncalibrated
from benchmarks.validation.laws import (
    NAIVE,
    NORM,
    NORM_CONSTANT,
    NORM_OUTSIDE,
    STALL,
    SUM,
    Subject,
    slowdowns,
)
from benchmarks.validation.protocols import (
    by_default,
    by_estimate,
    by_few_points,
    by_one_run,
    rows_by,
    tables_of,
)
from benchmarks.validation.published import read_set
from benchmarks.validation.scores import Comparison
from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.cost_model.dvfs_forms import clocks_of
from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

TX2 = "TX2, GPU x memory clocks, time"
TX2_USED = ((1300.5, 1866.0), (1300.5, 1062.4), (114.75, 1866.0), (726.75, 1062.4))
"""GPU and memory clock, MHz: fastest, slow memory, slow GPU, and a middle GPU at slow memory."""
TX2_CORNERS = ((1300.5, 1866.0), (1300.5, 1062.4), (114.75, 1866.0), (114.75, 1062.4))
NANO = "Orin Nano, GPU x memory clocks, time"
NANO_USED = ((1020.0, 3199.0), (1020.0, 665.6), (306.0, 3199.0), (612.0, 665.6))
GPU_CLOCKS = "Xavier, Xavier NX, Nano, GPU clocks, time"
BATCHES = {"xavier-nx": (1, 8), "nano": (1, 8), "agx-xavier": (1, 16)}
CPU_CLOCKS = "Xavier NX, Nano, CPU clocks, time"
DLA_MODES = "Orin, two DLAs, power modes, time"
ORIN = "jetson-agx-orin"
DLA_NETWORKS = {"ResNet-50": "resnet50", "SSD-MobileNetV1": "mobilenet_ssd"}
"""Networks of the source that are in the catalogue."""
DLA_USED = ((1600.0, 3199.0), (1369.6, 3199.0))
"""DLA and memory clock, MHz: MAXN, and both of 50W and 30W."""
ONE_RUN = "one run; shape of the others"
BY_ESTIMATE = "one run and the network's estimate"
TX2_NETWORKS = {"vgg19": "vgg19", "resnet": "resnet50"}
"""The source does not name the depth of the ResNet."""
NANO_NETWORKS = {"mobilenet": "mobilenet_v2", "vit": "dinov2_s"}
"""DINOv2's ViT-S has the layers of ViT-S/16 and 257 tokens, not 197."""
BOARDS_NETWORK = "inception_v3"


def tx2_subjects(used: Sequence[tuple[float, float]] = TX2_USED) -> list[Subject]:
    """Return the networks of the TX2 grid. ``used``: GPU and memory clocks in the fit of a few."""
    return _grid_subjects("tx2_gpu_memory", used)


def _grid_subjects(data: str, used: Sequence[tuple[float, float]]) -> list[Subject]:
    """Return the networks of a grid of GPU and memory clocks. The first of ``used`` is the
    fastest."""
    subjects = []
    for name, rows in rows_by(read_set(data), "network"):
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
    """Compare fits to four points (the corners for comparison), one run, and for VGG-19 none at
    all."""
    laws = (NAIVE, SUM, NORM, NORM_CONSTANT)
    subjects = tx2_subjects()
    (vgg19,) = (subject for subject in subjects if subject.name == "vgg19")
    return [
        *by_few_points(TX2, "4 of 52 points of each network", laws, subjects),
        *by_few_points(
            TX2, "the 4 corners of each network", (SUM, NORM_CONSTANT), tx2_subjects(TX2_CORNERS)
        ),
        *by_one_run(TX2, ONE_RUN, laws, subjects),
        *by_estimate(
            TX2,
            BY_ESTIMATE,
            ("jetson-tx2", "gpu", "fp32"),
            [(subject, TX2_NETWORKS[subject.name]) for subject in subjects],
        ),
        by_default(
            TX2,
            "4 of 52 points of each network",
            "jetson-tx2",
            "gpu",
            tables_of("tx2_gpu_memory"),
            TX2_USED,
        ),
        Comparison(
            TX2, "nothing; VGG-19", "the program's estimate", "ms", estimate_ms(), vgg19.measured_ms
        ),
    ]


def nano_grid() -> list[Comparison]:
    """Compare fits to four points of each subject, and for the two networks one run with the
    other's shape."""
    laws = (NAIVE, SUM, NORM)
    data = "orin_nano_gpu_memory"
    subjects = _grid_subjects(data, NANO_USED)
    networks = [subject for subject in subjects if subject.name in ("mobilenet", "vit")]
    fitted_to = "4 of 24 points of each network or kernel"
    tables = tables_of(data)
    return [
        *by_few_points(NANO, fitted_to, (*laws, NORM_OUTSIDE), subjects),
        by_default(NANO, fitted_to, "jetson-orin-nano-8gb", "gpu", tables, NANO_USED),
        *by_one_run(NANO, "one run; shape of the other network", laws, networks),
        *by_estimate(
            NANO,
            BY_ESTIMATE,
            ("jetson-orin-nano-8gb", "gpu", "fp32"),
            [(subject, NANO_NETWORKS[subject.name]) for subject in networks],
        ),
    ]


def estimate_ms() -> FloatArray:
    """Return VGG-19's times by the platform file alone, at every point of the grid, in ms.

    The CPU is at its fastest clock.
    """
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
    """Compare times over GPU and CPU clocks: the host's clock counts."""
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
    laws = (NAIVE, SUM, NORM, STALL)
    return [
        *by_few_points(TANG, "5 of 9 points of each network", laws, subjects),
        *by_estimate(
            TANG,
            BY_ESTIMATE,
            ("jetson-tx2", "gpu", "fp32"),
            [(subject, subject.name) for subject in subjects],
        ),
        *uncalibrated(platform),
    ]


def board_subjects(batches: Mapping[str, tuple[int, ...]]) -> list[tuple[Subject, FloatArray]]:
    """Return boards at batch sizes, with the energy of a batch in mJ, [n] rising GPU clocks."""
    found = []
    data = dict(rows_by(read_set("jetson_gpu_clocks"), "board"))
    for board, sizes in batches.items():
        for batch in sizes:
            rows = [row for row in data[board] if row["batch"] == batch]
            mhz, times, energies = (
                np.array([float(row[key]) for row in rows]) for key in ("gpu", "latency", "energy")
            )
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
    """Compare fits to four GPU clocks of a board, one with other boards' shape, one with the
    platform's."""
    laws = (NAIVE, SUM, NORM)
    subjects = [subject for subject, _ in board_subjects(BATCHES)]
    return [
        *by_few_points(
            GPU_CLOCKS, "4 clocks of each board and batch", (*laws, NORM_OUTSIDE), subjects
        ),
        *by_one_run(GPU_CLOCKS, "one run; shape of other boards", laws, subjects),
        *(
            comparison
            for board in BATCHES
            for comparison in by_estimate(
                GPU_CLOCKS,
                f"{BY_ESTIMATE}, {board}",
                (f"jetson-{board}", "gpu", "fp32"),
                [(one, BOARDS_NETWORK) for one in subjects if one.name == f"batch 1 on {board}"],
            )
        ),
    ]


def estimated_ps(
    chip: str, unit: str, network: str, subject: Subject, batch: int = 1, precision: str = "fp16"
) -> FloatArray:
    """Return the program's estimate of a network at the clocks of a subject, in ps.

    The memory's clocks are those of the platform, the unit's are between two of them.
    """
    platform = load_platform(chip)
    graph = load_network(network).graph
    layers = [actor.layer for actor in graph.actors if actor.layer is not None]
    grouped = group_network(graph, layer_support(layers, platform).table)
    (costs,) = network_costs(
        grouped, platform, units=[unit], precision=precision, batch=batch
    ).units
    table = costs.time_ps.sum(axis=0)
    own, memory = (
        np.array([point.frequency_khz for point in platform.domain_by_name[name].operating_points])
        for name in platform.unit_by_name[unit].clocks
    )
    return np.array(
        [
            np.interp(own[-1] / x, own, table[:, np.argmin(np.abs(memory[-1] / memory - z))])
            for x, z in zip(subject.clocks.own, subject.clocks.memory, strict=True)
        ]
    )


def cpu_clocks() -> list[Comparison]:
    """Compare power modes with equal GPU and memory clocks: the one with the fastest CPU predicts
    the others."""
    times, naive, measured = [], [], []
    rows = read_set("jetson_cpu_clocks").rows
    for clocks in dict.fromkeys((row["board"], row["gpu"], row["memory"]) for row in rows):
        first, *others = (r for r in rows if (r["board"], r["gpu"], r["memory"]) == clocks)
        for row in others:
            times.append(float(first["latency"]))
            naive.append(times[-1] * float(first["cpu"]) / float(row["cpu"]))
            measured.append(float(row["latency"]))
    fitted_to = "the fastest CPU at the same clocks"
    return [
        Comparison(CPU_CLOCKS, fitted_to, law, "ms", np.array(found), np.array(measured))
        for law, found in ((NAIVE.name, naive), ("no host", times))
    ]


def dla_modes() -> list[Comparison]:
    """Compare fits to one power mode of a network with the other networks' shape, or two pairs of
    its clocks.

    Three pairs do not determine a constant inside the norm.
    """
    subjects = []
    for name, rows in rows_by(read_set("orin_dla_modes"), "network"):
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
        for name, rows in tables_of("orin_dla_modes")
    ]
    named = [(one, DLA_NETWORKS[one.name]) for one in subjects if one.name in DLA_NETWORKS]
    return [
        *by_one_run(DLA_MODES, ONE_RUN, (NAIVE, SUM, NORM), subjects),
        by_default(DLA_MODES, "MAXN, 50W, 30W of each network", ORIN, "dla0", tables, DLA_USED),
        *by_estimate(
            DLA_MODES,
            f"{BY_ESTIMATE}, which has seen these",
            (ORIN, "dla0", "int8"),
            named,
            units=2,
        ),
    ]
