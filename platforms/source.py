"""The source of a figure and its reliability."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """The trustworthiness of a figure."""

    MEASURED = "measured"
    DERIVED = "derived"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Source:
    """The source of a figure, and whether it was measured, derived or assumed."""

    status: Status
    text: str
