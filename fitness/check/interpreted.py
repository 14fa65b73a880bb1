"""Kernels as plain Python: the text that is compiled, interpreted in integers without a limit."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

BEYOND = 1 << 200
"""Above every product of two figures of a problem."""


def _integers(table: Any, index: Any) -> Any:
    row = table[index if isinstance(index, tuple) else slice(index, None)]
    return row[0] if len(row) == 1 else row.copy()


def _put(table: Any, index: Any, vector: Any) -> None:
    table[index if isinstance(index, tuple) else slice(index, None)] = vector


def _where(condition: Any, one: Any, other: Any) -> Any:
    if isinstance(condition, (bool, np.bool_)):
        return one if condition else other
    return np.where(condition, one, other)


_INSTEAD = {
    "np": SimpleNamespace(int64=int),
    "FAR": BEYOND,
    "integers": _integers,
    "put": _put,
    "all_lanes": lambda number: number,
    "where": _where,
}
"""Replacements, by their names in the kernels, of the parts that bound them to 64 bits. A vector
has as many lanes as its table has columns, and is a number if that is one."""
_MODULES: dict[int, dict[str, Any]] = {}


def interpreted(kernel: Any) -> Callable[..., Any]:
    """Return a compiled function as a Python function that interprets its callees, too.

    Its tables must be of objects (``exact`` in :func:`fitness.check.make_facts.make_facts`).
    """
    python = getattr(kernel, "py_func", kernel)
    return FunctionType(python.__code__, _names_of(python), python.__name__)


def _names_of(python: FunctionType) -> dict[str, Any]:
    """Return the names of a function's module, for interpretation."""
    names = python.__globals__
    made = _MODULES.get(id(names))
    if made is None:
        made = _MODULES[id(names)] = dict(names) | {
            name: value for name, value in _INSTEAD.items() if name in names
        }
        for name, value in names.items():
            if hasattr(value, "py_func"):
                made[name] = interpreted(value)
    return made


def numbers(exact: bool) -> np.dtype[Any]:
    """Return the type of the tables' entries: Python's integers if ``exact``, else int64."""
    return np.dtype(object if exact else np.int64)
