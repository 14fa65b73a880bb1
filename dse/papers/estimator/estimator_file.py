"""A trained estimator on disk: ``estimator.safetensors`` with the weights, ``estimator.json`` with
bins, scaling, accuracy and origin."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.common.arrays import Float32Array
from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.inference import LearnedPredictor
from paretosoc.dse.papers.estimator.predictor import CLASSES
from paretosoc.dse.papers.estimator.settings import (
    EMBEDDING_HIDDEN,
    FEED_FORWARD,
    LAYERS,
    WIDTH,
    EstimatorSettings,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse
from paretosoc.results.io.optional import optional_import

FORMAT = "paretosoc estimator 2"
WEIGHTS, DOCUMENT = "estimator.safetensors", "estimator.json"
SHIPPED = Path(__file__).parent / "weights"
SHIPPED_STATIC = SHIPPED / "static"
"""The estimator without a short play."""


@dataclass(frozen=True, eq=False)
class EstimatorFile:
    """The content of the two files."""

    weights: dict[str, Float32Array]
    settings: EstimatorSettings
    provenance: dict[str, Json]
    """Seed, command, versions, hash of the data, accuracy."""

    @property
    def predictor(self) -> LearnedPredictor:
        """Return the predictor of these weights."""
        return LearnedPredictor(self.weights, self.settings)


def shipped_estimator(*, short_play: bool = True) -> EstimatorFile:
    """Return the estimator that comes with the program, for the Jetson AGX Xavier.

    There is one with a short play among its inputs, and one that simulates nothing.
    """
    return load_estimator(SHIPPED if short_play else SHIPPED_STATIC)


def estimator_files(
    weights: dict[str, Float32Array], settings: EstimatorSettings, provenance: dict[str, Json]
) -> dict[str, bytes]:
    """Return the bytes of both files, by name."""
    save = _safetensors().save
    data: bytes = save({name: weights[name] for name in sorted(weights)})
    document: dict[str, Json] = {
        "format": FORMAT,
        "weights_sha256": hashlib.sha256(data).hexdigest(),
        "provenance": provenance,
        "settings": settings.document(),
    }
    return {WEIGHTS: data, DOCUMENT: canonical_bytes(document)}


def load_estimator(folder: Path) -> EstimatorFile:
    """Read both files and compare them with each other.

    Raises:
        WorkloadError: if one is missing, was changed, or is not of this kind.
    """
    load = _safetensors().load
    data = read_file(folder / WEIGHTS, WorkloadError)
    try:
        document: Any = parse(read_file(folder / DOCUMENT, WorkloadError))
    except ResultError as error:
        raise WorkloadError(f"{folder / DOCUMENT}: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorkloadError(f"{folder / DOCUMENT}: format {FORMAT!r} is required")
    digest = hashlib.sha256(data).hexdigest()
    if digest != document.get("weights_sha256"):
        raise WorkloadError(
            f"{folder / WEIGHTS}: is not the file that {DOCUMENT} speaks of: sha256 "
            f"{document.get('weights_sha256')} is required, got {digest}"
        )
    try:
        settings = EstimatorSettings.from_document(document["settings"])
        weights = {name: np.asarray(array) for name, array in load(data).items()}
        provenance = document["provenance"]
        if not isinstance(provenance, dict):
            raise TypeError("provenance must be an object")
    except Exception:
        # safetensors raises its own error on invalid bytes.
        raise WorkloadError(f"{folder}: is no trained estimator, or a damaged one") from None
    _check_shapes(folder, weights, settings)
    return EstimatorFile(weights, settings, provenance)


def weight_shapes(settings: EstimatorSettings) -> dict[str, tuple[int, ...]]:
    """Return every weight of the transformer with its shape."""
    board = settings.board
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.component.weight": (len(board.units), WIDTH),
        "embedding.point.weight": (sum(board.points), WIDTH),
    }

    def linear(name: str, inputs: int, outputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    def normal(name: str) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (WIDTH,)

    linear("embedding.stretch", settings.segment_features, EMBEDDING_HIDDEN)
    linear("embedding.stretch_out", EMBEDDING_HIDDEN, WIDTH)
    linear("embedding.summary", settings.summary_inputs, EMBEDDING_HIDDEN)
    linear("embedding.summary_out", EMBEDDING_HIDDEN, WIDTH)
    for k in range(LAYERS):
        normal(f"layers.{k}.before_attention")
        linear(f"layers.{k}.query", WIDTH, WIDTH)
        linear(f"layers.{k}.key_value", WIDTH, 2 * WIDTH)
        linear(f"layers.{k}.out", WIDTH, WIDTH)
        normal(f"layers.{k}.before_feed")
        linear(f"layers.{k}.feed", WIDTH, FEED_FORWARD)
        linear(f"layers.{k}.feed_out", FEED_FORWARD, WIDTH)
    normal("normal")
    for head in ("throughput", "power"):
        linear(f"{head}.classes", WIDTH, CLASSES)
        if settings.short_play:
            linear(f"{head}.trust", WIDTH, 1)
    return shapes


def _check_shapes(
    folder: Path, weights: dict[str, Float32Array], settings: EstimatorSettings
) -> None:
    wanted = weight_shapes(settings)
    for name in sorted(wanted.keys() | weights.keys()):
        got = weights[name].shape if name in weights else None
        if got != wanted.get(name):
            raise WorkloadError(
                f"{folder / WEIGHTS}: {name}: shape {wanted.get(name)} is required, got {got}"
            )
        if not np.isfinite(weights[name]).all():
            raise WorkloadError(f"{folder / WEIGHTS}: {name}: finite numbers are required")


def _safetensors() -> Any:
    return optional_import("safetensors.numpy", extra="mapformer", purpose="the estimator")
