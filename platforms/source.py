"""Where a figure is from and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How far a figure can be trusted."""

    MEASURED = "measured"
    DERIVED = "derived"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Source:
    """Where a figure is from, and how it came to be."""

    status: Status
    text: str
