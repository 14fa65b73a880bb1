"""Random values for tensors, comparison of results with those of the CPU alone, and how far they
may differ."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

EXACT = 1e-5
"""Tolerance as a share of the largest value. The same kernels run in the same order: equality to
the last bit is usual, and only operators that are not deterministic need it."""
ROUNDING = {"fp16": 2.0**-11, "int8": 1 / 254}
"""Largest error of one rounding by number format, as a share of a tensor's largest value: half a
step of FP16's ten bits, and of 127 equal steps."""
ROUNDINGS = 16
"""Roundings of a single layer. A network adds its layers' errors as a random walk does, since they
are independent. Of 34 trained networks in FP16, with 13 to 1,097 layers, 30 needed at most 1.3, and
two 5 and 10."""
LIMIT = 0.25
"""Largest tolerance: results that are wrong differ by more, however deep the network is."""
FINITE = float(np.finfo(np.float32).max)
"""A tolerance that only refuses results that are not finite."""
CHOOSING = ("ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "TopK", "Unique")
"""Operations, of ONNX and OpenVINO, that a rounding makes choose others."""


def type_of(name: str) -> Any:
    """Return the type of elements that is called so in deployment.json (``float``) or by ONNX
    Runtime (``tensor(float)``)."""
    plain = name.removeprefix("tensor(").removesuffix(")")
    return np.dtype("float32" if plain == "float" else plain)


def random_value(rng: np.random.Generator, shape: Any, dtype: Any) -> Any:
    """Return an array of floats from -1 to 1, or of integers 0 and 1."""
    if np.issubdtype(dtype, np.floating):
        return rng.uniform(-1, 1, shape).astype(dtype)
    return rng.integers(0, 2, shape).astype(dtype)


def tolerance_of(
    layers: int, number_format: str = "fp32", operations: Collection[str] = ()
) -> float:
    """Return the tolerance of results of so many layers with these operations, as a share of the
    largest value. Roundings of INT8 alone reach the limit in 16 layers: deeper results cannot be
    judged, nor can those of networks that choose."""
    if number_format not in ROUNDING:
        return EXACT
    tolerance = min(LIMIT, ROUNDINGS * ROUNDING[number_format] * math.sqrt(layers))
    is_deep = number_format == "int8" and tolerance == LIMIT
    return FINITE if is_deep or any(name.startswith(CHOOSING) for name in operations) else tolerance


def compare(found: Any, expected: Any) -> tuple[float, float]:
    """Return the largest difference and the largest finite value that was expected."""
    found, expected = (np.asarray(of).astype(np.float64) for of in (found, expected))
    largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    # Masks of attention are infinite in both.
    apart = (found != expected) & ~(np.isnan(found) & np.isnan(expected))
    return float(np.abs(found[apart] - expected[apart]).max(initial=0.0)), largest
