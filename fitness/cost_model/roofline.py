"""The estimate: the parts of the time of a group from its multiply-accumulates and bytes.

Of a launch compute = MACs / (peak x efficiency), memory = bytes / (peak bandwidth x the unit's
share), both at the fastest clocks; they follow the clocks by :mod:`fitness.cost_model.clock_law`.
A launch takes a fixed time besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.fitness.cost_model.clock_law import LaunchTime, TimeParts
from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.platforms.platform import Peak, Platform, Unit
from paretosoc.sdf.layer import Layer, LayerKind

CYCLES_PER_PS = Fraction(1, 10**9)
"""Of a clock of 1 kHz."""
TRAFFIC_PER_BYTE = 10**9
"""bytes / ps = 10^9 kB/s."""
DEPTHWISE = "depthwise convolution"
"""Efficiency key of convolutions with a single input channel per group."""


@dataclass(frozen=True)
class UnitModel:
    """The figures of one unit in one number format, at the fastest clocks."""

    name: str
    macs_per_ps: Fraction
    efficiency: dict[str, Fraction]
    bytes_per_ps: Fraction
    bytes_per_element: int
    bandwidth_share: Fraction
    overlap: Fraction
    fixed_ps: int
    fixed_own_share: Fraction
    counts_elements: bool
    """Whether a launch without multiply-accumulates computes one operation per element written: on
    a CPU the vector lanes that multiply do all else, too. Elsewhere it is bound by its traffic."""


def unit_model(unit: Unit, platform: Platform, peak: Peak) -> UnitModel:
    """Return the figures of ``unit`` with ``peak`` at the fastest clocks.

    A unit without a share works in memory of its own: its elements have no bytes.
    """
    own = platform.ladder_khz(unit.clocks[0])[-1]
    return UnitModel(
        name=unit.name,
        macs_per_ps=peak.macs_per_cycle * own * CYCLES_PER_PS,
        efficiency=dict(peak.efficiency),
        bytes_per_ps=(unit.bandwidth_share or 1) * platform.memory_peak_kbps * CYCLES_PER_PS,
        bytes_per_element=peak.bytes_per_element if unit.bandwidth_share else 0,
        bandwidth_share=unit.bandwidth_share,
        overlap=unit.clock_law.overlap,
        fixed_ps=unit.fixed_ns_per_layer * 1000,
        fixed_own_share=unit.fixed_own_share,
        counts_elements=unit.kind == "cpu",
    )


def efficiency_of(layer: Layer, efficiency: dict[str, Fraction]) -> Fraction:
    """Return the share of its peak that a unit reaches on ``layer``."""
    default = efficiency["default"]
    if layer.kind is LayerKind.CONVOLUTION and is_depthwise(layer):
        return efficiency.get(DEPTHWISE, efficiency.get("convolution", default))
    return efficiency.get(layer.kind.value, default)


def is_depthwise(layer: Layer) -> bool:
    """Return whether every group of a convolution reads a single channel."""
    if layer.window is None or layer.window.groups == 1 or not layer.input_shapes:
        return False
    shape = layer.input_shapes[0]
    return len(shape) > 1 and layer.window.groups == shape[1]


def group_parts(launches: Sequence[Launch], model: UnitModel) -> TimeParts:
    """Return the parts of the time of a group's launches on a unit."""
    pairs: Counter[tuple[Fraction, int]] = Counter()
    fixed = 0
    shares = [model.bandwidth_share]
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
        if model.counts_elements and not work:
            elements = sum(layer.output_elements for layer in launch.layers)
            work = elements / (model.macs_per_ps * model.efficiency["default"])
        pairs[work, launch.moved_bytes(model.bytes_per_element)] += 1
        shares += [efficiency_of(x, model.efficiency) for x in launch.layers if x.macs]
    return TimeParts(
        launches=tuple(
            LaunchTime(work, size / model.bytes_per_ps, count)
            for (work, size), count in pairs.items()
            if work or size
        ),
        overlap=model.overlap,
        peak_share=max(shares),
        fixed=Fraction(fixed),
        traffic=sum(count * size for (_, size), count in pairs.items()) * TRAFFIC_PER_BYTE,
        own_share=model.fixed_own_share,
    )
