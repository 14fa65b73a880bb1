"""Requirements on values of ``problem.json``. Errors name the value's path."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.text import has_control_characters
from paretosoc.results.errors import ResultError


def require(condition: bool, path: str, requirement: str) -> None:
    """Raise ResultError, with the path and the requirement, if the condition does not hold."""
    if not condition:
        raise ResultError(f"{path}: {requirement}")


def check_names(path: str, names: list[str]) -> None:
    """Accept names that are not empty and occur once."""
    require(bool(names), path, "must not be empty")
    seen: set[str] = set()
    for i, name in enumerate(names):
        require(bool(name), f"{path}[{i}].name", "must not be empty")
        check_text(name, f"{path}[{i}].name")
        require(name not in seen, f"{path}[{i}].name", f"{name!r} stands twice")
        seen.add(name)


def check_text(text: str, path: str) -> None:
    """Accept text without control characters."""
    require(
        not has_control_characters(text), path, f"must not have control characters, got {text!r}"
    )


def check_array(array: IntArray, shape: tuple[int, ...], path: str) -> None:
    """Accept int64 of this shape."""
    require(
        array.shape == shape, path, f"must have the shape {list(shape)}, got {list(array.shape)}"
    )
    require(array.dtype == np.int64, path, f"must be int64, got {array.dtype}")


def check_range(array: IntArray, low: int, high: int, path: str) -> None:
    """Accept values from ``low`` to ``high``."""
    if array.size:
        smallest, largest = int(array.min()), int(array.max())
        require(smallest >= low, path, f"must be >= {low}, got {smallest}")
        require(largest <= high, path, f"must be <= {high}, got {largest}")
