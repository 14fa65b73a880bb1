"""Tokens as the transformer takes them: scaled, spread, padded, in training and inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretosoc.common.arrays import BoolArray, Float32Array, FloatArray, IntArray
from paretosoc.dse.papers.estimator.settings import (
    MAX_POSITIONS,
    EstimatorSettings,
    Scaling,
    places,
    spread,
)
from paretosoc.dse.papers.estimator.tokens import Tokens

MAX_DEVIATIONS = 6.0
"""Figures are cut off so far from the mean, so that unseen values do not drown the rest."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """A batch of n sequences: the summary and at most T segments."""

    figures: Float32Array
    """[n, T, figures]"""
    unit: IntArray
    """[n, T]"""
    point: IntArray
    """[n, T]"""
    position: IntArray
    """[n, T]"""
    present: BoolArray
    """[n, T]: False for padding."""
    summary: Float32Array
    """[n, summary figures + bumps]"""
    places: Float32Array
    """[n, 2]: the short play's throughput and power on the scale of classes; [n, 0] without it."""

    def __len__(self) -> int:
        return len(self.summary)

    def take(self, index: IntArray) -> Inputs:
        """Return the inputs at ``index``, without padding that none of them needs."""
        longest = max(int(self.present[index].sum(axis=1).max(initial=1)), 1)
        return Inputs(
            self.figures[index, :longest],
            self.unit[index, :longest],
            self.point[index, :longest],
            self.position[index, :longest],
            self.present[index, :longest],
            self.summary[index],
            self.places[index],
        )


@dataclass(frozen=True, eq=False)
class Examples:
    """Sequences and their classes."""

    inputs: Inputs
    throughput: IntArray
    """[n]: classes."""
    power: IntArray
    """[n]"""

    def __len__(self) -> int:
        return len(self.inputs)


def inputs_of(tokens: Tokens, settings: EstimatorSettings) -> Inputs:
    """Return the batch of all rows of ``tokens``."""
    scaling = settings.scaling
    present = np.arange(tokens.unit.shape[1]) < tokens.length[:, None]
    figures = _scaled(tokens.figures, scaling.figures_mean, scaling.figures_deviation)
    summary = _scaled(tokens.summary, scaling.summary_mean, scaling.summary_deviation)
    placed = np.zeros(tokens.played.shape, dtype=np.float32)
    if settings.short_play:
        for k, bins in enumerate((settings.throughput, settings.power)):
            placed[:, k] = places(bins, tokens.played[:, k])
    bumps = spread(placed).reshape(len(placed), -1)
    return Inputs(
        figures=np.where(present[:, :, None], figures, np.float32(0.0)),
        unit=tokens.unit,
        point=tokens.point,
        position=np.minimum(tokens.position, MAX_POSITIONS - 1),
        present=present,
        summary=np.concatenate((summary, bumps), axis=1),
        places=placed,
    )


def _scaled(values: Float32Array, mean: FloatArray, deviation: FloatArray) -> Float32Array:
    scaled = (values - mean) / deviation
    return np.clip(scaled, -MAX_DEVIATIONS, MAX_DEVIATIONS).astype(np.float32)


def scaling_of(tokens: Tokens) -> Scaling:
    """Return mean and deviation of the figures. A figure that never changes is left as it is."""
    present = np.arange(tokens.unit.shape[1]) < tokens.length[:, None]
    figures: FloatArray = tokens.figures[present].astype(np.float64)
    summary: FloatArray = tokens.summary.astype(np.float64)
    return Scaling(*_moments(figures), *_moments(summary))


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    deviation = values.std(axis=0)
    return values.mean(axis=0), np.where(deviation > 1e-6, deviation, 1.0)


def take_tokens(tokens: Tokens, index: IntArray) -> Tokens:
    """Return the tokens of the rows at ``index``."""
    return Tokens(*(getattr(tokens, name)[index] for name in Tokens.__dataclass_fields__))


def joined(parts: Sequence[Tokens]) -> Tokens:
    """Return the tokens of several problems as one batch."""
    longest = max(part.unit.shape[1] for part in parts)

    def padded(name: str) -> Any:
        arrays = []
        for part in parts:
            array = getattr(part, name)
            width = ((0, 0), (0, longest - array.shape[1]), *((0, 0),) * (array.ndim - 2))
            arrays.append(np.pad(array, width))
        return np.concatenate(arrays)

    return Tokens(
        length=np.concatenate([part.length for part in parts]),
        figures=padded("figures"),
        unit=padded("unit"),
        point=padded("point"),
        position=padded("position"),
        summary=np.concatenate([part.summary for part in parts]),
        played=np.concatenate([part.played for part in parts]),
    )
