"""Kernels that take tables and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paretosoc.common.machine_code.jit import make_kernel
from paretosoc.common.machine_code.kernel import Kernel

TYPES = tuple(f"paretosoc.fitness.simulator.types.{name}_types" for name in ("table", "vector"))
"""Modules that tell numba the types of tables and vectors."""


def jit(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function that allocates nothing.

    Without ``forceinline`` small problems take 1.4 times as long.
    """
    return make_kernel(function, TYPES, forceinline=True)


def rare(function: Callable[..., Any]) -> Kernel:
    """Make a kernel that few problems need once, instead of at each place that calls it."""
    return make_kernel(function, TYPES)
