"""The shape of a network's time over clocks, before it was measured at several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.calibration.least_squares import Task, fit
from paretosoc.fitness.cost_model.clock_law import TimeParts, parts_norm
from paretosoc.fitness.cost_model.dvfs_forms import Clocks, clocks_of, time_ms
from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.fitness.cost_model.power import ladder_shape
from paretosoc.fitness.cost_model.roofline import network_parts, unit_model
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.sdf.grouping.groups import GroupedNetwork

OWN = 0.5
"""Weight of the network's own estimate beside the shape that other networks have on the board. On
the TX2, where both are known, each is nearer for one of two networks
(``python -m benchmarks.validation --only tx2-grid``)."""

Shape = Mapping[str, float]
"""The parts of a time of 1 ms at the fastest clocks, by the names of :func:`time_ms`."""


def estimated_shape(
    network: GroupedNetwork, platform: Platform, unit: Unit, precision: str, layer: str = ""
) -> Shape | None:
    """Return the shape of a network, or of the launch of a layer of it.

    None if it takes no time, or the unit does not compute in the precision.
    """
    peak = next((peak for peak in unit.peaks if peak.precision == precision), None)
    launches = [
        launch
        for group in network_launches(network)
        for launch in group
        if not launch.is_free and (not layer or layer in [one.name for one in launch.layers])
    ]
    if peak is None or not launches:
        return None
    return shape_of(network_parts([launches], unit_model(unit, platform, peak)), platform, unit)


def shape_of(parts: Sequence[TimeParts], platform: Platform, unit: Unit) -> Shape:
    """Return the shape of estimates together on a unit.

    It is the form of :mod:`fitness.cost_model.dvfs_forms` with the unit's p that is nearest to the
    estimate at all clocks. If the unit's ``clock_law`` has the usual shares of networks on the
    board, the mean of both.
    """
    points = np.indices(ladder_shape(platform, unit)).reshape(len(unit.clocks), -1).T
    clocks = clocks_of(platform, unit, points.astype(np.int64))
    slower = {"compute_ms": clocks.own, "memory_ms": clocks.memory, "host_ms": clocks.host}
    # A clock with one point cannot be told from none.
    names = [name for name, ratios in slower.items() if np.ptp(ratios) > 0]
    overlap = float(unit.clock_law.overlap)
    task = Task(
        names=[*names, "fixed_ms"],
        predict=lambda values: time_ms(values, clocks),
        measured=_estimated_ms(parts, clocks, is_hosted=unit.host is not None),
        label=unit.name,
        held={"overlap": overlap},
    )
    own = _of_length_one(fit(task, noise=1.0, resamples=0).values, overlap)
    shares = {f"{part}_ms": float(share) for part, share in unit.clock_law.shares}
    if not shares:
        return own
    board = _of_length_one(shares, overlap)
    return {name: OWN * own.get(name, 0) + (1 - OWN) * board.get(name, 0) for name in own | board}


def _estimated_ms(parts: Sequence[TimeParts], clocks: Clocks, *, is_hosted: bool) -> FloatArray:
    """Return the estimate at clocks [n]. What a host launches it launches beside the unit's work,
    as in the forms that are fitted to measurements."""
    moving = np.zeros_like(clocks.own)
    launching = np.zeros_like(clocks.own)
    for part in parts:
        for launch in part.launches:
            both = [float(launch.compute) * clocks.own, float(launch.memory) * clocks.memory]
            moving += launch.count * parts_norm(both, float(part.overlap))
        share = float(part.own_share)
        launching += float(part.fixed) * (share * clocks.own + (1 - share) * clocks.host)
    if is_hosted:
        return parts_norm([moving, launching], float(parts[0].overlap)) / PS_PER_MS
    result: FloatArray = (moving + launching) / PS_PER_MS
    return result


def _of_length_one(shape: Shape, overlap: float) -> dict[str, float]:
    """Return the parts of a time of 1 ms at the fastest clocks, those that are not 0."""
    one = np.ones(1)
    parts = {name: part for name, part in shape.items() if name != "overlap" and part}
    length = float(time_ms(parts | {"overlap": overlap}, Clocks(one, one, one, one, one))[0])
    return {name: part / length for name, part in parts.items()}
