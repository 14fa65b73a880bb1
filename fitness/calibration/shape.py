"""The shape of a network's time over clocks, before it was measured at several.

One run says how long a network takes, the estimate of what that time is made:

* Without tensor cores a convolution or product is computed in square tiles of results, and every
  tile reads its operands anew. Small caches keep none of them, so that memory moves more than the
  layers' data (``Peak.reload_tile``).
* A run that takes as long as all layers one by one, none fused, was made by a framework that runs
  them so. Its shape is that of these launches.
* Otherwise computing, memory and fixed times are as near to the estimate as the run allows. Each
  may be off as far as the fits of the cost model take it to be before they see a measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.calibration.least_squares import Task, fit
from paretosoc.fitness.cost_model.clock_law import TimeParts, parts_norm
from paretosoc.fitness.cost_model.dvfs_forms import Clocks, clocks_of, time_ms
from paretosoc.fitness.cost_model.fusion import Launch, network_launches
from paretosoc.fitness.cost_model.power import ladder_shape
from paretosoc.fitness.cost_model.roofline import network_parts, unit_model
from paretosoc.platforms.platform import Peak, Platform, Unit
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind

SPREADS = (1.0, 0.4, 1.0)
"""Standard deviations of the logarithms of computing, memory and fixed times before any
measurement. The fits of the cost model begin with the same (``benchmarks.fit_costs``)."""
TIME_ERROR = 0.01
"""Relative standard error of the run."""
LARGEST = 10.0
"""Largest logarithm of a factor."""

Shape = Mapping[str, float]
"""p and the parts of a time of 1 ms at the fastest clocks, by the names of :func:`time_ms`."""


@dataclass(frozen=True, eq=False)
class Run:
    """The time of one run in ms, at clocks, arrays [1]."""

    ms: float
    clocks: Clocks


def estimated_shape(
    network: GroupedNetwork,
    platform: Platform,
    unit: Unit,
    precision: str,
    layer: str = "",
    run: Run | None = None,
) -> Shape | None:
    """Return the shape of a network, or of the launch of a layer of it.

    ``run`` is its own. Without one the shape is that of the estimate. None if the network takes no
    time, or the unit does not compute in the precision.
    """
    peak = unit.peak_by_format.get(precision)
    launches = [
        launch
        for group in network_launches(network, unit.separate_operations)
        for launch in group
        if not launch.is_free and (not layer or layer in [one.name for one in launch.layers])
    ]
    if peak is None or not launches:
        return None
    model = unit_model(unit, platform, peak)
    hosted = unit.host is not None
    parts = network_parts([_reloading(launches, peak)], model)
    if run is not None:
        single = network_parts([_reloading(_layer_by_layer(launches), peak)], model)
        slow = float(_estimated_ms(single, run.clocks, is_hosted=hosted)[0])
        if peak.reload_tile and run.ms >= slow:
            parts = single
        else:
            work = sum(layer.macs for launch in launches for layer in launch.layers)
            least = 0 if peak.reload_tile else float(work / model.macs_per_ps)
            parts = _nearest(parts, run, (least, float(model.bandwidth_share)), is_hosted=hosted)
    return shape_of(parts, platform, unit)


def _reloading(launches: Sequence[Launch], peak: Peak) -> list[Launch]:
    """Return the launches with the operands that every tile reads anew."""
    if not peak.reload_tile:
        return list(launches)
    return [
        replace(
            launch,
            elements=launch.elements
            + 2 * sum(layer.macs for layer in launch.layers) // peak.reload_tile,
        )
        for launch in launches
    ]


def _layer_by_layer(launches: Sequence[Launch]) -> list[Launch]:
    """Return a launch for every layer, none fused with another."""
    return [
        Launch(
            (layer,),
            layer.parameters - layer.narrow_parameters + layer.input_elements
            + layer.output_elements,
            is_free=False,
            narrow_bits=layer.narrow_bits,
        )
        for launch in launches
        for layer in launch.layers
        if layer.kind is not LayerKind.RESHAPE
    ]  # fmt: skip


def _nearest(
    parts: Sequence[TimeParts], run: Run, least: tuple[float, float], *, is_hosted: bool
) -> list[TimeParts]:
    """Return the parts times factors as near to 1 as the time allows. ``least``: computing takes
    these ps at the peak (0 without tensor cores, for fast algorithms), memory this share of its
    time."""
    # Imported here: it takes a second, and most commands fit nothing.
    from scipy.optimize import least_squares

    compute = float(sum(part.compute for part in parts))
    shares = np.array([least[0] / compute if compute else 0.0, least[1], 0.0])
    lowest = np.log(np.clip(shares, np.exp(-LARGEST), 0.999))

    def residuals(logs: FloatArray) -> FloatArray:
        time = _estimated_ms(parts, run.clocks, is_hosted=is_hosted, factors=np.exp(logs))
        return np.append(logs / SPREADS, np.log(time / run.ms) / TIME_ERROR)

    found = least_squares(residuals, np.zeros(3), bounds=(lowest, LARGEST)).x
    computing, memory, fixed = (Fraction(float(factor)) for factor in np.exp(found))
    return [part.scaled(computing, memory, fixed) for part in parts]


def shape_of(parts: Sequence[TimeParts], platform: Platform, unit: Unit) -> Shape:
    """Return the shape of estimates together on a unit.

    It is the form of :mod:`fitness.cost_model.dvfs_forms` that is nearest to the estimate at all
    clocks, with a p of its own: launches bound by memory and others after each other overlap less
    than the parts of one.
    """
    points = np.indices(ladder_shape(platform, unit)).reshape(len(unit.clocks), -1).T
    clocks = clocks_of(platform, unit, points.astype(np.int64))
    slower = {"compute_ms": clocks.own, "memory_ms": clocks.memory, "host_ms": clocks.host}
    # A clock with one point cannot be told from none.
    names = [name for name, ratios in slower.items() if np.ptp(ratios) > 0]
    overlap = float(unit.clock_law.overlap)
    several = {"compute_ms", "memory_ms"} <= set(names)
    task = Task(
        names=[*names, "fixed_ms", *(["overlap"] if several else [])],
        predict=lambda values: time_ms({"overlap": overlap, **values}, clocks),
        measured=_estimated_ms(parts, clocks, is_hosted=unit.host is not None),
        label=unit.name,
    )
    return _of_length_one({"overlap": overlap} | fit(task, noise=1.0, resamples=0).values)


def _estimated_ms(
    parts: Sequence[TimeParts],
    clocks: Clocks,
    *,
    is_hosted: bool,
    factors: Sequence[float] | FloatArray = (1.0, 1.0, 1.0),
) -> FloatArray:
    """Return the estimate at clocks [n] with its parts times ``factors``, launches beside the
    unit's work as in fitted forms."""
    moving = np.zeros_like(clocks.own)
    launching = np.zeros_like(clocks.own)
    for part in parts:
        own = np.array([float(one.compute) for one in part.launches]) * factors[0]
        memory = np.array([float(one.memory) for one in part.launches]) * factors[1]
        both = [np.multiply.outer(own, clocks.own), np.multiply.outer(memory, clocks.memory)]
        counts = np.array([one.count for one in part.launches], dtype=np.float64)
        moving += counts @ parts_norm(both, float(part.overlap))
        share = float(part.own_share)
        launching += (
            factors[2] * float(part.fixed) * (share * clocks.own + (1 - share) * clocks.host)
        )
    if is_hosted:
        return parts_norm([moving, launching], float(parts[0].overlap)) / PS_PER_MS
    result: FloatArray = (moving + launching) / PS_PER_MS
    return result


def _of_length_one(shape: Shape) -> dict[str, float]:
    """Return p and the parts of a time of 1 ms at the fastest clocks, those that are not 0."""
    one = np.ones(1)
    length = float(time_ms(shape, Clocks(one, one, one, one, one))[0])
    return {
        name: part if name == "overlap" else part / length for name, part in shape.items() if part
    }
