"""Language models and text encoders by their sizes, as their public configurations state them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paretosoc.sdf.errors import GraphError

SEQUENCE = "sequence"
"""Dimension: tokens that an inference computes, 128 by default (the prompt)."""
PAST = "past"
"""Dimension: positions that are in the cache before, none by default. Only decoders have it."""
DEFAULT_SEQUENCE = 128


@dataclass(frozen=True)
class Latent:
    """Queries, keys and values from projections of low rank (DeepSeek-V2's attention)."""

    query_rank: int
    rank: int
    rotary: int
    """Features of a key that have a position; all heads share them."""


@dataclass(frozen=True)
class LanguageModel:
    """Sizes of a decoder, or of an encoder (``positions`` above 0). All layers are alike.

    A decoder has RMS normalisations before attention and MLP, rotary positions, a gated MLP and a
    cache. An encoder has learned positions, biases everywhere, layer normalisations after attention
    and MLP, and a pooler.
    """

    name: str
    family: str
    source: str
    """Whose ``config.json`` states the sizes, on the Hugging Face Hub."""
    hidden: int
    layers: int
    heads: int
    key_heads: int
    head_size: int
    inner: int
    """Width of the MLP."""
    vocabulary: int
    tied: bool = True
    """The output's matrix is the embedding."""
    biased: bool = False
    """Queries, keys and values have biases."""
    head_norms: bool = False
    """Queries and keys are normalised per head."""
    post_norms: bool = False
    """Attention and MLP are normalised behind as well."""
    gelu: bool = False
    latent: Latent | None = None
    value_size: int = 0
    """Size of a head's value, if values are narrower than keys. 0: ``head_size``."""
    positions: int = 0

    @property
    def is_encoder(self) -> bool:
        """Return whether it has neither cache nor logits."""
        return self.positions > 0

    @property
    def value(self) -> int:
        """Return the features of a value."""
        return self.value_size or self.head_size

    @property
    def projections(self) -> tuple[tuple[int, int], ...]:
        """Return inputs and outputs of the products of a layer that make query, key and value."""
        if self.latent is None:
            key = self.key_heads * self.head_size
            return (
                (self.hidden, self.heads * self.head_size),
                (self.hidden, key),
                (self.hidden, key),
            )
        low, plain = self.latent, self.head_size - self.latent.rotary
        return (
            (self.hidden, low.query_rank),
            (low.query_rank, self.heads * self.head_size),
            (self.hidden, low.rank + low.rotary),
            (low.rank, self.heads * (plain + self.value)),
        )

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Return inputs and outputs of all products of a layer with weights."""
        mlp = (self.hidden, self.inner)
        up = (mlp,) if self.is_encoder else (mlp, mlp)
        attention = (*self.projections, (self.heads * self.value, self.hidden))
        return (*attention, *up, (self.inner, self.hidden))

    @property
    def layer_weights(self) -> int:
        """Return the elements of the matrices of all layers."""
        return self.layers * sum(rows * columns for rows, columns in self.products)

    @property
    def vectors(self) -> int:
        """Return the elements of all biases and scales."""
        if self.is_encoder:
            biases = sum(columns for _, columns in self.products) + 4 * self.hidden
            return self.layers * biases + 3 * self.hidden
        biases = sum(columns for _, columns in self.projections) if self.biased else 0
        norms = (4 if self.post_norms else 2) * self.hidden
        norms += 2 * self.head_size if self.head_norms else 0
        norms += 0 if self.latent is None else self.latent.query_rank + self.latent.rank
        return self.layers * (biases + norms) + self.hidden

    @property
    def table(self) -> int:
        """Return the elements of the matrix of an embedding, or of the output."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """Return the parameters of the model. A matrix that is used twice counts once."""
        if self.is_encoder:
            other = (self.positions + 2) * self.hidden + self.hidden**2
        else:
            other = 0 if self.tied else self.table
        return self.table + other + self.layer_weights + self.vectors

    def read(self, sequence: int) -> int:
        """Count the constants that an inference reads: of tables a row for each token. Integers
        that cut and join tensors count, too."""
        integers = int(sequence > 1) + (10 * self.layers if self.latent else 0)
        common = self.layer_weights + self.vectors + integers
        if self.is_encoder:
            rows = 2 * sequence + min(2, sequence)
            return common + self.hidden**2 + rows * self.hidden
        rotary = self.latent.rotary if self.latent else self.head_size
        return common + self.table + sequence * (self.hidden + 2 * self.layers * rotary)

    def macs(self, sequence: int, past: int = 0) -> int:
        """Count multiply-accumulates: products, scores and values. Logits are of the last token
        only."""
        pairs = sequence * (sequence + past)
        attention = self.layers * pairs * self.heads * (self.head_size + self.value)
        last = self.hidden**2 if self.is_encoder else self.table
        return sequence * self.layer_weights + attention + last

    def cache(self, positions: int) -> int:
        """Return the elements of the keys and values of a number of positions."""
        return self.layers * positions * self.key_heads * (self.head_size + self.value)


def sizes(model: LanguageModel, dimensions: Mapping[str, int]) -> tuple[int, int]:
    """Return the tokens and cached positions that ``dimensions`` ask for.

    Raises:
        GraphError: on a size below 1, or more tokens than an encoder has positions.
    """
    for name in (SEQUENCE, PAST):
        if dimensions.get(name, 1) < 1:
            raise GraphError(f"{model.name}: {name} must be at least 1, got {dimensions[name]}")
    sequence = dimensions.get(SEQUENCE, DEFAULT_SEQUENCE)
    if model.is_encoder and sequence > model.positions:
        raise GraphError(
            f"{model.name}: {SEQUENCE} must be at most {model.positions}, got {sequence}"
        )
    return sequence, 0 if model.is_encoder else dimensions.get(PAST, 0)


def _published() -> dict[str, LanguageModel]:
    rows = json.loads((Path(__file__).parent / "data" / "language_models.json").read_text("utf-8"))
    for row in rows:
        if "latent" in row:
            row["latent"] = Latent(**row["latent"])
    return {row["name"]: LanguageModel(**row) for row in rows}


LANGUAGE_MODELS = _published()


def description(model: LanguageModel) -> str:
    """Return a description in one line."""
    if model.is_encoder:
        return f"encoder of {model.layers} layers with learned positions"
    shared = "" if model.key_heads == model.heads else f", {model.key_heads} of keys"
    kind = "latent attention" if model.latent else "attention"
    return f"decoder of {model.layers} layers, {kind} with {model.heads} heads{shared}"
