"""A network of the catalogue, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """A network, what builds it, and what is published of its weights.

    ``build``: returns a module of PyTorch, or an ONNX model. ``percent``: of ``metric``, as
    ``says`` says; 0 if the catalogue has none.
    """

    name: str
    family: str
    description: str
    origin: str
    inputs: tuple[tuple[int, ...], ...]
    build: Callable[[], Any]
    percent: float = 0.0
    metric: str = ""
    says: str = ""


def with_forward(module: Any, take: Callable[..., Any]) -> Any:
    """Let a module compute ``take(forward, *inputs)`` in place of ``forward(*inputs)``."""
    forward = module.forward
    module.forward = lambda *inputs: take(forward, *inputs)
    return module
