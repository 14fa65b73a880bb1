"""The estimate: time of a group from its multiply-accumulates and bytes, in three parts.

At the fastest clocks f0 and m0 a launch takes max(c, m) with c = sum of MACs / (peak x efficiency)
and m = bytes / (peak bandwidth x the unit's share); of that the share c / (c + m) goes with the
unit's clock and m / (c + m) with the memory's. The third part, a fixed time for every launch, goes
with neither: t = t_compute f0/f + t_memory m0/m + t_fixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fitness.cost_model.fusion import Launch
from platforms.platform import Peak, Platform, Unit
from sdf.layer import Layer, LayerKind

CYCLES_PER_PS = Fraction(1, 10**9)
"""Of a clock of 1 kHz."""
TRAFFIC_PER_BYTE = 10**9
"""bytes / ps = 10^9 kB/s."""
DEPTHWISE = "depthwise convolution"
"""Efficiency key of convolutions with a single input channel per group."""


@dataclass(frozen=True)
class TimeParts:
    """The parts of a time at the fastest clocks, ps.

    ``traffic``: bytes moved x 10^9, so that traffic / time in ps is the demand in kB/s.
    """

    compute: Fraction
    memory: Fraction
    fixed: Fraction
    traffic: int

    def at(self, unit_ratio: Fraction, memory_ratio: Fraction) -> Fraction:
        """The time at clocks ``f`` and ``m``, given f0/f and m0/m."""
        return self.compute * unit_ratio + self.memory * memory_ratio + self.fixed

    def scaled(self, scaled: Fraction, fixed: Fraction = Fraction(1)) -> TimeParts:
        """Compute and memory part times ``scaled``, the fixed part times ``fixed``."""
        return TimeParts(
            self.compute * scaled, self.memory * scaled, self.fixed * fixed, self.traffic
        )


@dataclass(frozen=True)
class UnitModel:
    """What the estimate needs of one unit in one number format, at the fastest clocks."""

    name: str
    macs_per_ps: Fraction
    efficiency: dict[str, Fraction]
    bytes_per_ps: Fraction
    bytes_per_element: int
    fixed_ps: int


def unit_model(unit: Unit, platform: Platform, peak: Peak) -> UnitModel:
    """The figures of ``unit`` with ``peak`` at the fastest points of its own and the memory's.

    A unit without a share works in memory of its own: its elements have no bytes.
    """
    own = platform.domain_by_name[unit.clocks[0]].operating_points[-1].frequency_khz
    memory = platform.domain_by_name[platform.memory.domain].operating_points[-1].frequency_khz
    return UnitModel(
        name=unit.name,
        macs_per_ps=peak.macs_per_cycle * own * CYCLES_PER_PS,
        efficiency=dict(peak.efficiency),
        bytes_per_ps=(unit.bandwidth_share or 1)
        * platform.memory.bytes_per_cycle
        * memory
        * CYCLES_PER_PS,
        bytes_per_element=peak.bytes_per_element if unit.bandwidth_share else 0,
        fixed_ps=unit.fixed_ns_per_layer * 1000,
    )


def efficiency_of(layer: Layer, efficiency: dict[str, Fraction]) -> Fraction:
    """The share of its peak that a unit reaches on ``layer``."""
    default = efficiency["default"]
    if layer.kind is LayerKind.CONVOLUTION and is_depthwise(layer):
        return efficiency.get(DEPTHWISE, efficiency.get("convolution", default))
    return efficiency.get(layer.kind.value, default)


def is_depthwise(layer: Layer) -> bool:
    """Whether every group of a convolution reads a single channel."""
    if layer.window is None or layer.window.groups == 1 or not layer.input_shapes:
        return False
    shape = layer.input_shapes[0]
    return len(shape) > 1 and layer.window.groups == shape[1]


def group_parts(launches: Sequence[Launch], model: UnitModel) -> TimeParts:
    """The three parts of the time of a group's launches on a unit."""
    # Equal launches are counted first: their exact sum keeps small denominators.
    pairs: Counter[tuple[Fraction, int]] = Counter()
    fixed = 0
    for launch in launches:
        if launch.is_free:
            continue
        fixed += model.fixed_ps
        work = sum(
            (
                layer.macs / (model.macs_per_ps * efficiency_of(layer, model.efficiency))
                for layer in launch.layers
                if layer.macs
            ),
            Fraction(0),
        )
        pairs[work, launch.elements * model.bytes_per_element] += 1
    compute, memory = [], []
    moved = 0
    for (work, size), count in pairs.items():
        transfer = size / model.bytes_per_ps
        total = work + transfer
        moved += count * size
        if total:
            longest = max(work, transfer) * count / total
            compute.append(work * longest)
            memory.append(transfer * longest)
    return TimeParts(
        _tree_sum(compute), _tree_sum(memory), Fraction(fixed), moved * TRAFFIC_PER_BYTE
    )


def _tree_sum(terms: list[Fraction]) -> Fraction:
    """The exact sum, adding terms of like size: much faster than from the left."""
    while len(terms) > 1:
        pairs = [left + right for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return terms[0] if terms else Fraction(0)
