"""The order in which a free unit takes waiting groups."""

from __future__ import annotations

from enum import Enum


class Dispatch(Enum):
    """Choice of the next group of a free unit."""

    PLANNED = "planned"
    """The next of the order that the timeline predicts, even if another one is ready before."""
    FIFO = "fifo"
    """Of what is ready the smallest (priority, ready time, frame, network, repeat, group)."""
