"""Checks of measured times and fits over clocks against the peak of the number format and the
memory's bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.files import naming
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.calibration.dvfs_profile import ClockProfile
from paretosoc.fitness.cost_model.power import ladder_shape
from paretosoc.fitness.cost_model.tables import CostOrigin, UnitCosts
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Peak, Platform, Unit
from paretosoc.platforms.source import Status
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind

FAST_CONVOLUTION = 4
"""Winograd's F(4x4, 3x3) takes 36 multiplications for 144 (Lavin and Gray, CVPR 2016)."""
MOST = 1.001
"""Times are whole picoseconds, measured ones have three digits."""


def notes_on_costs(
    network: GroupedNetwork,
    platform: Platform,
    unit: Unit,
    peak: Peak,
    costs: UnitCosts,
    fits: Sequence[ClockProfile],
) -> list[str]:
    """Return notes of :func:`limit_notes` on measurements and fits of a unit.

    Groups share the fit of a network by the estimate, so only their sum is checked.

    Raises:
        PlatformError: see :func:`limit_notes`. The message starts with the network.
    """
    subjects = [
        (f"group {group.name!r}", [index])
        for index, group in enumerate(network.groups)
        if costs.origin[index] is CostOrigin.MEASURED
    ]
    if any(fit.unit == unit.name for fit in fits):
        calibrated = CostOrigin.CALIBRATED
        subjects.append(("the fit", [g for g, o in enumerate(costs.origin) if o is calibrated]))
    shape = ladder_shape(platform, unit)
    points = np.indices(shape).reshape(len(shape), -1).T
    notes: list[str] = []
    with naming(network.name, PlatformError):
        for what, groups in subjects:
            notes += limit_notes(
                f"{what} on {unit.name}",
                (layer for group in groups for layer in network.groups[group].layers),
                platform,
                unit,
                peak,
                points,
                costs.time_ps[groups].sum(axis=0).reshape(-1),
            )
    return notes


def limit_notes(
    label: str,
    layers: Iterable[Layer],
    platform: Platform,
    unit: Unit,
    peak: Peak,
    points: IntArray,
    time_ps: IntArray | FloatArray,
) -> list[str]:
    """Return notes on times [n] at operating points [n, clocks of the unit] that beat the hardware,
    if a fast convolution, a peak that is only assumed, or a cache may explain it.

    Raises:
        PlatformError: on a time that none of these explains. The message starts with ``label``.
    """
    work = tuple(layers)
    macs = sum(layer.macs for layer in work)
    fewest = sum(-(-layer.macs // _saving(layer)) for layer in work)
    own, memory = (
        np.array(platform.ladder_khz(unit.clocks[k]), dtype=np.int64)[points[:, k]] for k in (0, -1)
    )
    time_ms = time_ps / PS_PER_MS
    notes = []
    # A clock of 1 kHz is a cycle per ms.
    least_ms = macs / (float(peak.macs_per_cycle) * own)
    worst = _worst(least_ms / time_ms)
    if least_ms[worst] > time_ms[worst] * MOST:
        text = (
            f"{label}: {time_ms[worst]:.3g} ms at {own[worst] / 1000:g} MHz would be "
            f"{100 * least_ms[worst] / time_ms[worst]:.0f} % of the {peak.precision} peak"
        )
        least = least_ms[worst] * fewest / macs
        if peak.source.status is Status.ASSUMED:
            notes.append(f"{text}, which is assumed")
        elif least <= time_ms[worst] * MOST:
            notes.append(f"{text}: fast convolutions, or another number format or clock?")
        else:
            raise PlatformError(
                f"{text}; at least {least:.3g} ms are required: another number format, clock or "
                "network?"
            )
    size = peak.bytes_per_element if unit.bandwidth_share else 0
    weights = sum(layer.parameter_bytes(size) for layer in work) if size else 0
    least_ms = weights / (platform.memory.bytes_per_cycle * memory)
    worst = _worst(least_ms / time_ms)
    if least_ms[worst] > time_ms[worst] * MOST:
        notes.append(
            f"{label}: {time_ms[worst]:.3g} ms for {weights / 1e6:.3g} MB of weights would be "
            f"{100 * least_ms[worst] / time_ms[worst]:.0f} % of the memory's bandwidth at "
            f"{memory[worst] / 1000:g} MHz: from a cache, or another number format or clock?"
        )
    return notes


def _worst(shares: FloatArray) -> int:
    """Return the index of the largest, of equal ones the last, at the fastest clocks."""
    return len(shares) - 1 - int(np.round(shares[::-1], 3).argmax())


def _saving(layer: Layer) -> int:
    """Return the multiply-accumulates that a fast algorithm does with one multiplication."""
    window = layer.window
    if layer.kind is not LayerKind.CONVOLUTION or window is None:
        return 1
    fast = min(window.kernel) >= 3 and max(*window.strides, *window.dilations) == 1
    return FAST_CONVOLUTION if fast else 1
