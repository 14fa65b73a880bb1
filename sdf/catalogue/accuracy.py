"""The accuracy of a trained network."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a network, with what it is a share of, and who says so."""

    percent: float
    metric: str = ""
    source: str = ""
