"""Memory that weights and activations take, where it is an objective, limited, or could exceed the
board's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from common.arrays import IntArray
from common.units import BYTES_PER_MB
from dse.workload.options import Options
from fitness.costs.number_formats import UnitFormat
from results.problem.objectives import ObjectiveKind
from sdf.grouping.activations import peak_activation_elements
from sdf.grouping.groups import GroupedNetwork


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """Bytes in the memory that the chip's units share."""

    weights: tuple[IntArray, ...]
    """[groups of all networks] of each unit in each format."""
    activations: tuple[int, ...]
    """Of each network, all frames in flight."""
    cap: int | None
    """At most so much."""


def memory_tables(
    options: Options,
    choices: Sequence[UnitFormat],
    groups: Sequence[GroupedNetwork],
    *,
    frames: int,
    board_bytes: int | None,
) -> MemoryTables | None:
    """The bytes of networks on units; None where nothing asks for them and all fits anyway.

    Constants take what they have in the format of the group's unit (those of a byte or less what
    they are stored in), nothing on a unit with a memory of its own. Activations are counted in the
    widest format that may be chosen.

    Args:
        choices: units with formats.
        groups: one per network of the workload.
        frames: in flight.
        board_bytes: memory of the board; None: not known. It is a limit where a mapping could need
            more.
    """
    widths = [_bytes_per_element(choice) for choice in choices]
    layers = [group.layers for network in groups for group in network.groups]
    weights = tuple(
        np.array(
            [
                sum(layer.parameter_bytes(width) for layer in own)
                if choice.unit.bandwidth_share
                else 0
                for own in layers
            ],
            dtype=np.int64,
        )
        for choice, width in zip(choices, widths, strict=True)
    )
    activations = tuple(
        frames * peak_activation_elements(network.graph) * max(widths) for network in groups
    )
    limits = [] if options.memory_cap_mb is None else [int(options.memory_cap_mb * BYTES_PER_MB)]
    if board_bytes is not None:
        most = int(np.max(weights, axis=0).sum()) + sum(activations)
        limits += [board_bytes] if most > board_bytes else []
    names = {text.partition(":")[0] for text in options.objectives}
    if not limits and ObjectiveKind.MEMORY.value not in names:
        return None
    return MemoryTables(weights, activations, max(1, min(limits)) if limits else None)


def _bytes_per_element(choice: UnitFormat) -> int:
    peaks = choice.unit.peaks
    known = [p.bytes_per_element for p in peaks if p.precision == choice.number_format]
    # A unit that does not compute in the format runs nothing.
    return known[0] if known else 1
