"""Comparison of results with those of the CPU alone."""

from __future__ import annotations

from typing import Any

import numpy as np

EXACT = 1e-5
"""Tolerance as a share of the largest value."""
HALF = 8 / 2048
"""The same in FP16 for each layer: eight roundings."""


def tolerance_of(layers: int, *, half: bool) -> float:
    """Return the tolerance of a network of so many layers. ``half``: some compute in FP16."""
    return HALF * layers if half else EXACT


def compare(found: Any, expected: Any) -> tuple[float, float]:
    """Return the largest difference and the largest finite value that was expected."""
    found, expected = (np.asarray(of).astype(np.float64) for of in (found, expected))
    largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    # Masks of attention are infinite in both.
    apart = (found != expected) & ~(np.isnan(found) & np.isnan(expected))
    return float(np.abs(found[apart] - expected[apart]).max(initial=0.0)), largest
