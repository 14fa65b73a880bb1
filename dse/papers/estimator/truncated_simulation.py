"""The first events of networks that run freely, as a hint of a mapping's throughput and power.

A simulation runs until the slowest network has ended 2 F + 8 frames, which may take some hundred
thousand events if another network is a thousand times faster. Here the same rules (frames in
flight, FIFO units, contention, transitions) are followed in floating point for a fixed number of
events, so that every mapping costs the same. Contention has no limit by the memory's bandwidth
(the last line of the loss in ``docs/concepts/model.md``). The part of a frame that a network has
done counts. So networks that are slow beside the others are seen in a part of a frame only, and
their later effect on the others is not seen at all. That is left to the transformer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.papers.estimator.features import Figures

EVENTS, WARM_UP = 2500, 1000
"""Simulated events, and those before averages start."""


@dataclass(frozen=True, eq=False)
class ShortPlay:
    """Short plays of n rows with N networks, G groups and U units."""

    rate_hz: FloatArray
    """[n, N]: passes through each network per second; a frame is as many as it has repeats."""
    power_w: FloatArray
    """[n]: with the idle power."""
    busy: FloatArray
    """[n, U]: share of the time."""
    loss: FloatArray
    """[n, U]: mean share of its rate that a unit loses while it is busy."""
    residence_s: FloatArray
    """[n, G]: time that a frame spends at each group, waiting included."""
    rate_doubt: FloatArray
    """[n]: logarithm of the mean rate of the later half over that of all counted."""
    power_doubt: FloatArray
    """[n]: the same of power."""


def play_shortly(
    figures: Figures,
    mapping: IntArray,
    first: IntArray,
    size: IntArray,
    losses: FloatArray,
    frames_in_flight: int,
) -> ShortPlay:
    """Simulate rows with ``mapping`` [n, G] of networks that begin at ``first`` and have ``size``
    groups.

    ``losses`` are those of :func:`dse.papers.estimator.features.loss_parameters`.
    """
    from paretosoc.dse.papers.estimator.truncated_simulation_kernel import simulate_rows

    n, groups = mapping.shape
    networks, units = len(first), losses.shape[0]
    jobs = networks * frames_in_flight
    rate, late_rate = np.zeros((n, networks)), np.zeros((n, networks))
    power, late_power = np.zeros(n), np.zeros(n)
    busy, loss = np.zeros((n, units)), np.zeros((n, units))
    residence = np.zeros((n, groups))
    simulate_rows(
        np.ascontiguousarray(mapping),
        figures.time_s,
        figures.demand_kbps,
        figures.dynamic_w,
        figures.transition_s,
        first,
        size,
        losses,
        np.ascontiguousarray(figures.memory_point),
        frames_in_flight,
        EVENTS,
        WARM_UP,
        np.zeros(jobs, dtype=np.int64),
        np.zeros(jobs),
        np.zeros(units, dtype=np.int64),
        np.zeros(units),
        np.zeros(units),
        rate,
        power,
        late_rate,
        late_power,
        busy,
        loss,
        residence,
    )
    # A network that has done nothing within so few events has not stopped.
    rate, late_rate = np.maximum(rate, 1e-6), np.maximum(late_rate, 1e-6)
    idle = figures.idle_w
    return ShortPlay(
        rate_hz=rate,
        power_w=idle + power,
        busy=busy,
        loss=loss,
        residence_s=residence,
        rate_doubt=np.log(late_rate.mean(axis=1) / rate.mean(axis=1)),
        power_doubt=np.log((idle + late_power) / (idle + power)),
    )
