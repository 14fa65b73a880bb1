"""The layers that each unit can run, and the reasons for the others.

A unit runs a layer if it computes in the requested number format, if the layer's kind and operation
are among those that it can run, and if no rule of the platform is broken. Layers that every
deployment leaves to the host processor never count against a unit: the softmax at the very end of a
classifier, with the reshaping around it. They are a vector of classes long and take no time worth
counting, and keeping the last group off an accelerator for their sake would model nothing real.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from paretosoc.platforms.platform import Platform, Rule, Unit
from paretosoc.sdf.layer import Layer, LayerKind

HOST_TAIL = frozenset({LayerKind.SOFTMAX, LayerKind.RESHAPE})
"""Kinds that may stand behind the last layer that computes."""


@dataclass(frozen=True)
class Support:
    """Reasons why layers cannot run on units, [layers][units], None if they can."""

    layers: tuple[str, ...]
    units: tuple[str, ...]
    reasons: tuple[tuple[str | None, ...], ...]

    @cached_property
    def table(self) -> NDArray[np.bool_]:
        """Return whether the layer can run on the unit, [layers, units]."""
        shape = (len(self.layers), len(self.units))
        flat = [reason is None for row in self.reasons for reason in row]
        return np.array(flat, dtype=np.bool_).reshape(shape)


def layer_support(
    layers: Sequence[Layer], platform: Platform, precision: str | None = None, batch: int = 1
) -> Support:
    """Return which layers each unit of the platform can run, with reasons. ``layers`` are in order
    of execution, for a batch of images.

    ``precision`` None means the platform's default. Support never depends on an operating point.
    """
    number_format = platform.default_precision if precision is None else precision
    tail = host_tail(layers, batch)
    judges = [_Judge(unit, number_format) for unit in platform.units]
    return Support(
        layers=tuple(layer.name for layer in layers),
        units=tuple(unit.name for unit in platform.units),
        reasons=tuple(
            tuple(judge.why_not(layer, in_host_tail=index in tail) for judge in judges)
            for index, layer in enumerate(layers)
        ),
    )


def host_tail(layers: Sequence[Layer], batch: int = 1) -> frozenset[int]:
    """Return the indices of the layers at the end that are left to the host (see the module's
    text). Of a batch each image counts for itself."""
    tail: list[int] = []
    for index in reversed(range(len(layers))):
        layer = layers[index]
        if layer.kind not in HOST_TAIL:
            break
        shapes = [(shape[0] // batch, *shape[1:]) for shape in layer.output_shapes if shape]
        if any(sum(size > 1 for size in shape) > 1 for shape in shapes):
            break
        tail.append(index)
    if not any(layers[index].kind is LayerKind.SOFTMAX for index in tail):
        return frozenset()
    return frozenset(tail)


def lacks_formats(unit: Unit, formats: Sequence[str]) -> str | None:
    """Return a text about the number formats of a unit that has none of ``formats``, else None."""
    known = unit.peak_by_format
    if known.keys() & set(formats):
        return None
    return f"{unit.name} computes in {' and '.join(known)}, not in {' and '.join(formats)}"


def why_not(layer: Layer, unit: Unit, precision: str, *, in_host_tail: bool = False) -> str | None:
    """Return why ``unit`` cannot run ``layer`` in ``precision``, or None if it can."""
    return _Judge(unit, precision).why_not(layer, in_host_tail=in_host_tail)


class _Judge:
    """Says of one layer after the other why a unit cannot run it."""

    def __init__(self, unit: Unit, precision: str) -> None:
        self._unit = unit
        self._lacking = lacks_formats(unit, [precision])
        # Layers are of few kinds and operations, and most rules are of others.
        self._rules = cache(self._rules_of)

    def _rules_of(self, kind: str, operation: str) -> list[Rule]:
        return [
            rule
            for rule in self._unit.rules
            if rule.kind in (None, kind) and rule.operation in ("*", operation)
        ]

    def why_not(self, layer: Layer, *, in_host_tail: bool) -> str | None:
        """Return the reason, or None if the unit can run the layer."""
        if self._lacking is not None or in_host_tail:
            return self._lacking
        unit, kind = self._unit, layer.kind.value
        if unit.supported_kinds is not None and kind not in unit.supported_kinds:
            known = layer.kind is not LayerKind.UNKNOWN
            named = f"{kind} ({layer.operation})" if known else layer.operation
            return f"{unit.name} runs no {named}"
        for operation in (layer.operation, f"{layer.operation} {layer.mode}"):
            if operation in unit.unsupported_operations:
                return f"{unit.name} does not run {operation}"
        for rule in self._rules(kind, layer.operation):
            if _is_broken(rule, layer):
                return f"{unit.name} does not run {rule.reason} ({layer.operation})"
        return None


def _is_broken(rule: Rule, layer: Layer) -> bool:
    if rule.limit is None:
        return True
    values = LIMITS[rule.limit](layer)
    return any(
        (rule.minimum is not None and value < rule.minimum)
        or (rule.maximum is not None and value > rule.maximum)
        or (rule.allowed is not None and value not in rule.allowed)
        for value in values
    )


def _shapes(layer: Layer) -> tuple[tuple[int, ...], ...]:
    return layer.input_shapes + layer.output_shapes


def _dimension(layer: Layer) -> Sequence[int]:
    """Return sizes of results. A flattened tensor is only another name for the one before it."""
    if layer.kind is LayerKind.RESHAPE:
        return []
    return [size for shape in layer.output_shapes for size in shape[1:]]


def _rank(layer: Layer) -> Sequence[int]:
    """Return the dimensions of results: none of a reshape, which only renames its input."""
    return [] if layer.kind is LayerKind.RESHAPE else [len(shape) for shape in layer.output_shapes]


def _scale(layer: Layer) -> Sequence[int]:
    """Return the factors of a resize along each dimension, 0 for one that is no integer."""
    if len(layer.output_shapes) != 1 or not layer.input_shapes:
        return []
    before, after = layer.input_shapes[0], layer.output_shapes[0]
    if len(before) != len(after) or 0 in before:
        return []
    return [0 if new % old else new // old for old, new in zip(before, after, strict=True)]


def _softmax_width(layer: Layer) -> Sequence[int]:
    """Return the elements along the axis of a softmax over more than one vector."""
    if layer.kind is not LayerKind.SOFTMAX or layer.axis is None or not layer.input_shapes:
        return []
    shape = layer.input_shapes[0]
    return [] if prod(shape) == shape[layer.axis] else [shape[layer.axis]]


def _kernel(layer: Layer) -> Sequence[int]:
    """Return the window's sides. That of a global pooling is limited by ``average_side``."""
    if layer.window is None or layer.operation.startswith("Global"):
        return []
    return layer.window.kernel


def _average_side(layer: Layer) -> Sequence[int]:
    """Return the largest prime factor of the sides, if the average is over the whole plane.

    Equal windows, one after the other, give the same average. Any other reduction counts with all
    its elements, which no sensible bound admits.
    """
    if len(layer.input_shapes) != 1 or len(layer.output_shapes) != 1:
        return []
    before, after = layer.input_shapes[0], layer.output_shapes[0]
    if len(before) != 4 or after[:2] != before[:2] or any(size != 1 for size in after[2:]):
        return [max(1, layer.input_elements)]
    return [max(_largest_prime_factor(size) for size in before[2:])]


def _largest_prime_factor(value: int) -> int:
    largest, divisor = 1, 2
    while divisor * divisor <= value:
        if value % divisor:
            divisor += 1
        else:
            largest, value = divisor, value // divisor
    return max(largest, value)


LIMITS: dict[str, Callable[[Layer], Sequence[int]]] = {
    "rank": _rank,
    "batch": lambda layer: [shape[0] for shape in _shapes(layer) if len(shape) > 1],
    "dimension": _dimension,
    "channels": lambda layer: [shape[1] for shape in _shapes(layer) if len(shape) > 1],
    "kernel": _kernel,
    "stride": lambda layer: () if layer.window is None else layer.window.strides,
    "pad": lambda layer: () if layer.window is None else layer.window.pads,
    "dilation": lambda layer: () if layer.window is None else layer.window.dilations,
    "convolution_groups": lambda layer: () if layer.window is None else (layer.window.groups,),
    "axis": lambda layer: () if layer.axis is None else (layer.axis,),
    "parameters": lambda layer: (layer.parameters,),
    "average_side": _average_side,
    "scale": _scale,
    "softmax_width": _softmax_width,
}
"""Values of a layer that a rule's limit bounds, none if the layer does not have them."""
