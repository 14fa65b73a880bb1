"""Predicted against measured board power of Jetson AGX Xavier over its 14 GPU clocks.

Measured: LoudVA's profile (MIT licence), sum of the six rails while a server answers image
classification requests one at a time (batch 1), with the inferences per second it reached. Its
batch-16 and batch-32 columns were used to fit the GPU's power; the batch-1 column was not.

The assumptions of the comparison:

* At batch 1 the GPU waits for the server between two requests. Its busy share at clock f is
  (a/f) / (a/f + b), where the time per inference a/f + b is fitted to the throughput column: a/f is
  the GPU's work, b the time that no GPU clock shortens.
* The network is Inception-v3, in FP32 by TensorFlow: the power while busy is the model's for its
  layers as TensorRT fuses them.
* The memory clock was left to the governor. The idle rails of the same source rise in steps with
  the GPU's clock, which the idle model explains by 1065.6, 1600 and 2133 MHz.
* The CPU stands at its parked clock, 1190.4 MHz. Feeding the GPU is part of the GPU's busy power.

Usage: ``python -m benchmarks.accuracy.board_power [--json]``.
"""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

from paretosoc.fitness.cost_model.power import domain_static_mw, unit_idle_mw
from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

TABLE = Path(__file__).parents[1] / "data" / "xavier_board_power.csv"
MEMORY_STEPS = ((600_000, 1_065_600), (900_000, 1_600_000), (10**9, 2_133_000))
"""(GPU clocks below, memory clock), kHz."""


@dataclass(frozen=True)
class BoardPower:
    """One GPU clock. Powers are in W, ``error`` is relative to the measurement."""

    gpu_mhz: float
    emc_mhz: float
    busy_share: float
    measured_w: float
    predicted_w: float
    error: float


def compare(network: str = "inception_v3") -> list[BoardPower]:
    """Return predicted and measured board power at every GPU clock of the batch-1 column."""
    with TABLE.open(encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    platform = load_platform("jetson-agx-xavier")
    graph = load_network(network).graph
    layers = [actor.layer for actor in graph.actors if actor.layer is not None]
    grouped = group_network(graph, layer_support(layers, platform).table)
    costs = network_costs(grouped, platform, units=["gpu"], precision="fp32").units[0]
    busy_mw = (costs.time_ps * costs.dynamic_mw.astype(float)).sum(0) / costs.time_ps.sum(0)
    gpu_idle = unit_idle_mw(platform, platform.unit_by_name["gpu"])
    cpu = platform.domain_by_name["cpu"].parked
    always = platform.board_mw + unit_idle_mw(platform, platform.unit_by_name["cpu"])[cpu, 0]
    memory_idle = domain_static_mw(platform, "emc")
    gpu_khz = [point.frequency_khz for point in platform.domain_by_name["gpu"].operating_points]
    emc_khz = [point.frequency_khz for point in platform.domain_by_name["emc"].operating_points]
    mhz = np.array([row["gpu_mhz"] for row in rows])
    seconds = 1 / np.array([row["batch1_per_s"] for row in rows])
    # Least squares of the relative error of a/f + b.
    form = np.stack([1 / mhz, np.ones_like(mhz)], axis=1)
    work, rest = np.linalg.lstsq(form / seconds[:, None], np.ones_like(mhz), rcond=None)[0]
    result = []
    for row in rows:
        point = gpu_khz.index(round(row["gpu_mhz"] * 1000))
        memory_khz = next(khz for below, khz in MEMORY_STEPS if gpu_khz[point] < below)
        column = emc_khz.index(memory_khz)
        share = (work / row["gpu_mhz"]) / (work / row["gpu_mhz"] + rest)
        total = always + memory_idle[column] + gpu_idle[point, column]
        total += share * busy_mw[point, column]
        predicted = float(total) / 1000
        result.append(
            BoardPower(
                gpu_mhz=row["gpu_mhz"],
                emc_mhz=memory_khz / 1000,
                busy_share=round(float(share), 3),
                measured_w=row["batch1_w"],
                predicted_w=round(predicted, 2),
                error=round(predicted / row["batch1_w"] - 1, 4),
            )
        )
    return result


def main() -> None:
    """Prints the comparison."""
    rows = compare()
    error = median(abs(row.error) for row in rows)
    if "--json" in sys.argv[1:]:
        document = {"median_error": error, "points": [asdict(row) for row in rows]}
        print(json.dumps(document, indent=1))
        return
    print("GPU MHz  memory MHz  busy  measured W  predicted W  error")
    for row in rows:
        print(
            f"{row.gpu_mhz:7g}  {row.emc_mhz:10g}  {row.busy_share:4.0%}  {row.measured_w:10.2f}"
            f"  {row.predicted_w:11.2f}  {row.error:+5.1%}"
        )
    print(f"median of the absolute error: {error:.1%}")


if __name__ == "__main__":
    main()
