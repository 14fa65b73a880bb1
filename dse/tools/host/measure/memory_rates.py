"""Rates at which units read memory, and the bandwidth demand of a group from the rate that it
leaves to such a reader.

A probe reads memory as fast as it can. Beside a reader of known rate it gets less, the less the
faster that reader is: this is the calibration. Beside a group it gets less, too. The group's demand
is the rate of the reader that would leave as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.unit_loop import CHUNK, StreamLog

STREAM_S = 0.3
CHANGED = 1.15
"""Largest over smallest from which on it has changed; a machine of its own stays within 3 %."""
RESOLVED = 0.1
"""A demand is measured if the probe loses this share of its rate beside the fastest reader,"""
CLEAR = 10
"""and so many times its noise."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Rates of a probe beside readers, GB/s. Arrays are [readers] by rising rate of the reader.

    ``probe`` never rises: noise is removed by the nearest such values (isotonic regression).
    """

    reader: FloatArray
    probe: FloatArray
    noise: float
    """Deviation of the samples from ``probe``, GB/s: the root of the mean square."""

    @property
    def tells(self) -> bool:
        """Return whether the probe loses enough to tell demands, both by itself and beside the
        noise."""
        lost = float(self.probe[0] - self.probe[-1])
        return lost > RESOLVED * float(self.probe[0]) and lost > CLEAR * self.noise

    def demand_of(self, probe_gbps: float) -> float | None:
        """Return the rate of the reader beside which the probe gets the given rate, or None if it
        gets less than beside any reader."""
        if probe_gbps < self.probe[-1] - self.noise:
            return None
        return float(np.interp(-probe_gbps, -self.probe, self.reader))


def make_calibration(samples: Sequence[tuple[float, float]]) -> Calibration:
    """Build a calibration from (rate of the reader, rate of the probe)."""
    from scipy.optimize import isotonic_regression

    ordered = sorted(samples)
    reader = np.array([sample[0] for sample in ordered], dtype=np.float64)
    probe = np.array([sample[1] for sample in ordered], dtype=np.float64)
    smooth = np.asarray(isotonic_regression(probe, increasing=False).x)
    return Calibration(reader, smooth, float(np.sqrt(np.mean((probe - smooth) ** 2))))


def chunk_rate(log: StreamLog) -> float:
    """Return the rate of reading, GB/s: the median over chunks, so that interruptions do not
    count."""
    return float(CHUNK / np.median(log.end - log.begin))


def rate_beside(log: StreamLog, begin: IntArray, end: IntArray) -> float | None:
    """Return the rate over the chunks that lie within given intervals, or None if there are few."""
    inside = np.zeros(len(log.begin), dtype=np.bool_)
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        low = int(np.searchsorted(log.begin, first))
        high = int(np.searchsorted(log.end, last, side="right"))
        inside[low:high] = True
    if int(inside.sum()) < 5:
        return None
    return float(CHUNK / np.median((log.end - log.begin)[inside]))


def together_gbps(machine: HostMachine, units: int) -> float:
    """Return the rate that units 0 to ``units`` - 1 read, all as fast as they can."""
    logs = machine.stream(dict.fromkeys(range(units)), STREAM_S)
    return sum(log.gbps for log in logs.values())


def changes(gbps: Sequence[float]) -> bool:
    """Return whether the memory gave more at one time than at another."""
    return max(gbps) > CHANGED * min(gbps)


def range_of(gbps: Sequence[float]) -> str:
    """Return smallest and largest, such as ``48.1 to 70.3``."""
    low, high = f"{min(gbps):.1f}", f"{max(gbps):.1f}"
    return low if low == high else f"{low} to {high}"
