"""How the efficiencies, bandwidth shares and launch times of GPU and DLA were fitted, and how well.

The ten networks of Table 5 of HaX-CoNN on Jetson AGX Xavier and AGX Orin 32 GB: three figures per
unit (one efficiency for all that has multiply-accumulates, the share of the memory's bandwidth, the
time of a launch) are fitted to the logarithm of the times with a soft-L1 loss; then each network is
predicted from the others. Of VGG-19 only the convolutions count: the model file of the paper's
artifact lacks the large products, and the measured times leave no room for their weights.

Usage: ``python -m benchmarks.fit_costs [--json]``. The platform files hold the figures, rounded.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from paretosoc.fitness.cost_model.clock_law import parts_norm
from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.fitness.cost_model.roofline import unit_model
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.measurement import is_same_network
from paretosoc.sdf.catalogue.catalogue import catalogue, load_network
from paretosoc.sdf.grouping.grouping import group_network

BOARDS = ("jetson-agx-xavier", "jetson-agx-orin-32gb")
UNITS = ("gpu", "dla0")
START = (0.5, 0.5, 10.0)
LOWEST = (0.05, 0.05, 0.01)
HIGHEST = (1.0, 0.95, 60.0)
"""Efficiency, bandwidth share, microseconds of a launch: nothing beats the peak."""


@dataclass(frozen=True)
class Sample:
    """A measured network: MACs and elements of each launch, and its time in ms."""

    network: str
    macs: NDArray[np.float64]
    elements: NDArray[np.float64]
    measured_ms: float


@dataclass(frozen=True)
class Fit:
    """The fitted figures of one unit, and relative errors by network."""

    platform: str
    unit: str
    efficiency: float
    bandwidth_share: float
    us_per_launch: float
    errors: dict[str, float]
    left_out_errors: dict[str, float]

    @property
    def left_out_median(self) -> float:
        """Median of the absolute errors of networks that were left out."""
        return median(abs(error) for error in self.left_out_errors.values())


def samples_of(platform_name: str, unit: str) -> list[Sample]:
    """The catalogue's networks that the platform has a measured time of on this unit."""
    platform = load_platform(platform_name)
    samples = []
    for entry in catalogue():
        for record in platform.measurements:
            if unit not in record.units or record.time_ps is None:
                continue
            if not is_same_network(entry.name, entry.macs, record.names, record.macs):
                continue
            network = group_network(load_network(entry.name).graph, None, groups=1)
            launches = [
                launch
                for group in network_launches(network)
                for launch in group
                if not launch.is_free
                and (entry.name != "vgg19" or launch.layers[0].operation != "Gemm")
            ]
            samples.append(
                Sample(
                    entry.name,
                    np.array([float(sum(x.macs for x in item.layers)) for item in launches]),
                    np.array([float(item.elements) for item in launches]),
                    record.time_ps / 1e9,
                )
            )
    return samples


def fit_unit(platform_name: str, unit_name: str) -> Fit:
    """Fits one unit on all its samples, and on all but each."""
    platform = load_platform(platform_name)
    unit = platform.unit_by_name[unit_name]
    peak = next(p for p in unit.peaks if p.precision == platform.default_precision)
    model = unit_model(unit, platform, peak)
    macs_per_ms = float(model.macs_per_ps) * 1e9
    bytes_per_ms = float(model.bytes_per_ps / unit.bandwidth_share) * 1e9

    def predicted(figures: NDArray[np.float64], sample: Sample) -> float:
        efficiency, share, launch = np.exp(figures)
        compute = sample.macs / (macs_per_ms * efficiency)
        transfer = sample.elements * model.bytes_per_element / (bytes_per_ms * share)
        total = parts_norm([compute, transfer], float(model.overlap)).sum()
        total += len(compute) * launch / 1000
        return float(total)

    def fit(chosen: Sequence[Sample]) -> NDArray[np.float64]:
        def residuals(figures: NDArray[np.float64]) -> list[float]:
            return [float(np.log(predicted(figures, s) / s.measured_ms)) for s in chosen]

        bounds = (np.log(LOWEST), np.log(HIGHEST))
        found = least_squares(
            residuals, np.log(START), bounds=bounds, loss="soft_l1", f_scale=0.1
        ).x
        return np.asarray(found, dtype=np.float64)

    samples = samples_of(platform_name, unit_name)
    figures = fit(samples)
    left_out = {}
    for sample in samples:
        others = fit([other for other in samples if other is not sample])
        left_out[sample.network] = round(predicted(others, sample) / sample.measured_ms - 1, 4)
    efficiency, share, launch = (round(float(value), 3) for value in np.exp(figures))
    return Fit(
        platform=platform_name,
        unit=unit_name,
        efficiency=efficiency,
        bandwidth_share=share,
        us_per_launch=launch,
        errors={s.network: round(predicted(figures, s) / s.measured_ms - 1, 4) for s in samples},
        left_out_errors=left_out,
    )


def main() -> None:
    """Prints every fit."""
    fits = [fit_unit(board, unit) for board in BOARDS for unit in UNITS]
    if "--json" in sys.argv[1:]:
        rows = [asdict(fit) | {"left_out_median": fit.left_out_median} for fit in fits]
        print(json.dumps(rows, indent=1))
        return
    for fit in fits:
        print(
            f"{fit.platform} {fit.unit}: efficiency {fit.efficiency:.3f}, "
            f"bandwidth share {fit.bandwidth_share:.3f}, {fit.us_per_launch:.1f} us a launch"
        )
        for network, error in fit.errors.items():
            left_out = fit.left_out_errors[network]
            print(f"  {network:<20} {error:+6.1%}   left out {left_out:+7.1%}")
        print(f"  left out, median of the absolute error: {fit.left_out_median:.1%}")


if __name__ == "__main__":
    main()
