"""What a unit spends on reading and writing channels: tau_w and tau_r of Tang Eq. 7."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from paretosoc.platforms.io.exact_json import rounded_half_up
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.problem.parts import ChannelCosts

FS_PER_BYTE_AND_KBPS = 10**12
"""bytes / (kB/s) = 10^12 fs."""


def channel_costs(
    platform: Platform, unit: Unit, precision: str, index: dict[str, int]
) -> ChannelCosts:
    """Times per token at every clock of the core that reads and writes: the unit's own, or the host
    of a hosted one.

    At the fastest clock a token takes its bytes over the platform's hand-over bandwidth; the core
    copies, so at other clocks that times f0 / f. The fixed part of a hand-over is none of Eq. 7's.
    ``index``: domain name -> its number in the problem.
    """
    core = unit.clocks[0] if unit.host is None else unit.host
    (transition,) = (entry for entry in platform.transitions if entry.unit == unit.name)
    width = next((p.bytes_per_element for p in unit.peaks if p.precision == precision), 0)
    ladder = [point.frequency_khz for point in platform.domain_by_name[core].operating_points]
    busy = np.zeros(len(ladder), dtype=np.int64)
    for table in unit.power:
        if table.domain == core:
            busy += np.array(table.busy_mw, dtype=np.int64)
            busy -= np.array(table.idle_mw, dtype=np.int64)
    return ChannelCosts(
        clock=index[core],
        write_fs=_per_token(width, transition.out_bandwidth_kbps, ladder),
        read_fs=_per_token(width, transition.in_bandwidth_kbps, ladder),
        busy_mw=busy,
    )


def _per_token(
    width: int, kbps: int, ladder: Sequence[int]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    fastest = Fraction(width * FS_PER_BYTE_AND_KBPS, kbps)
    return np.array(
        [rounded_half_up(fastest * Fraction(ladder[-1], khz)) for khz in ladder], dtype=np.int64
    )
