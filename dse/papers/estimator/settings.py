"""The estimator's sizes and its other knowledge besides the weights."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np

from paretosoc.common.arrays import Float32Array, FloatArray
from paretosoc.common.documents.document import read_document, write_document
from paretosoc.common.documents.marks import Key
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.predictor import CLASSES, Bins
from paretosoc.dse.papers.estimator.tokens import PLAYED_FIGURES, STATIC_FIGURES
from paretosoc.results.io.canonical_json import Json
from paretosoc.results.problem.problem import Problem

WIDTH = 64
HEADS = 8
LAYERS = 4
FEED_FORWARD = 256
"""Table 2 of MapFormer."""
EMBEDDING_HIDDEN = 256
"""Width of the layer between the figures and the embedding; with it the estimator has about as many
parameters as MapFormer's 270,000, of which some 67,000 must be its tables of layers."""
MAX_POSITIONS = 64
"""Places within a network that have a sinusoid of their own; later ones share the last."""
SPREAD_STEP, SPREAD_WIDTH = 0.5, 0.4
"""Spacing and width, in classes, of the bumps that a value of the short play is spread over."""


@dataclass(frozen=True)
class BoardShape:
    """The units and ladders that an estimator was trained for."""

    units: tuple[str, ...]
    domains: tuple[str, ...]
    points: tuple[int, ...]
    """Operating points of each domain."""

    @classmethod
    def of(cls, problem: Problem) -> BoardShape:
        """Return the shape of a problem's board."""
        return cls(
            tuple(unit.name for unit in problem.units),
            tuple(domain.name for domain in problem.domains),
            tuple(len(domain.allowed) for domain in problem.domains),
        )

    def check(self, problem: Problem) -> None:
        """Check that a problem is on the same board.

        Raises:
            WorkloadError: if units or ladders differ.
        """
        other = BoardShape.of(problem)
        for field in fields(self):
            wanted, got = getattr(self, field.name), getattr(other, field.name)
            if wanted != got:
                raise WorkloadError(
                    f"estimator: it was trained for {field.name} "
                    f"{', '.join(map(str, wanted))}; the problem has {', '.join(map(str, got))}"
                )


@dataclass(frozen=True, eq=False)
class Scaling:
    """Mean and deviation of the training data's figures, by which inputs are made comparable."""

    figures_mean: FloatArray
    figures_deviation: FloatArray
    """[segment figures]"""
    summary_mean: FloatArray
    summary_deviation: FloatArray
    """[summary figures]"""


@dataclass(frozen=True, eq=False)
class EstimatorSettings:
    """All that turns design points into the transformer's inputs, and its outputs into values."""

    board: BoardShape
    short_play: bool
    """Whether a short play of the mapping is among the inputs; without it nothing is simulated."""
    throughput: Annotated[Bins, Key("throughput_hz")]
    power: Annotated[Bins, Key("power_w")]
    scaling: Scaling

    @property
    def segment_features(self) -> int:
        """Return the number of figures of a segment."""
        return len(STATIC_FIGURES) + self.short_play * len(PLAYED_FIGURES)

    @property
    def summary_figures(self) -> int:
        """Return the number of figures of the summary, without the spread classes."""
        units, domains = len(self.board.units), len(self.board.domains)
        return 3 + 2 * domains + self.short_play * (9 + 2 * units)

    @property
    def summary_inputs(self) -> int:
        """Return the number of the transformer's inputs from the summary: figures and spread
        classes."""
        return self.summary_figures + self.short_play * 2 * BUMPS

    def document(self) -> dict[str, Json]:
        """Return the settings as JSON content."""
        return write_document(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> EstimatorSettings:
        """Return the settings of a :meth:`document`.

        Raises:
            KeyError, TypeError, ValueError: if it is no such document.
        """
        result = read_document(cls, document)
        if result.short_play not in (True, False):
            raise TypeError(f"short_play: true or false is required, got {result.short_play}")
        for points in result.board.points:
            operator.index(points)
        scaling = list(vars(result.scaling).values())
        if not all(array.ndim == 1 and np.isfinite(array).all() for array in scaling):
            raise ValueError("scaling: finite numbers are required")
        segment, summary = result.segment_features, result.summary_figures
        sizes, wanted = [len(array) for array in scaling], [segment, segment, summary, summary]
        if sizes != wanted:
            raise ValueError(f"scaling: {wanted} figures are required, got {sizes}")
        return result


def places(bins: Bins, values: FloatArray) -> Float32Array:
    """Return [n]: values on the scale of classes.

    There inner edges are the integers 1 to 15, and a value between two edges lies between them as
    its logarithm does. The outer classes are as wide as their neighbours, and the scale ends half a
    class beyond them.
    """
    edges = np.log(bins.edges)
    value = np.log(np.maximum(values, 1e-12))
    index = np.clip(np.searchsorted(edges, value, side="right"), 1, len(edges) - 1)
    width = np.maximum(edges[index] - edges[index - 1], 1e-9)
    place = index + (value - edges[index - 1]) / width
    result: Float32Array = np.clip(place, -0.5, CLASSES + 0.5).astype(np.float32)
    return result


def spread(place: Float32Array) -> Float32Array:
    """Return [..., bumps]: places [...] on the scale of classes spread over Gaussian bumps.

    These are half a class apart, so that two linear layers can tell on which side of an edge a
    value lies.
    """
    centres = np.arange(-0.5, CLASSES + 0.5 + SPREAD_STEP / 2, SPREAD_STEP)
    return np.exp(-0.5 * ((place[..., None] - centres) / SPREAD_WIDTH) ** 2).astype(np.float32)


BUMPS = 2 * (CLASSES + 1) + 1


def distances(place: Float32Array) -> Float32Array:
    """Return [..., 16]: half the squared distance of places [...] from the middles of the
    classes."""
    middles = np.arange(CLASSES, dtype=np.float32) + np.float32(0.5)
    return np.float32(0.5) * np.square(place[..., None] - middles)


def sinusoids() -> Float32Array:
    """Return [positions, width]: sin and cos of the position at wavelengths from 2 pi to 10,000 x 2
    pi."""
    position = np.arange(MAX_POSITIONS)[:, None]
    frequency = np.exp(-np.log(10_000.0) * np.arange(0, WIDTH, 2) / WIDTH)
    table = np.zeros((MAX_POSITIONS, WIDTH), dtype=np.float32)
    table[:, 0::2] = np.sin(position * frequency)
    table[:, 1::2] = np.cos(position * frequency)
    return table
