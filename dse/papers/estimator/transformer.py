"""The estimator's transformer in PyTorch, for training.
:mod:`dse.papers.estimator.inference` is the same in numpy.

MapFormer, Table 2: 4 attention layers, 8 heads, width 64, feed-forward 256, and two fully connected
heads of 16 classes on the encoder's output (4.2). The paper does not state the following choices:
normalisation before each part (it trains without a warm-up), ReLU, and no dropout. The heads read
the summary's token, so the last layer computes no other one.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from paretosoc.dse.papers.estimator.inputs import Inputs
from paretosoc.dse.papers.estimator.predictor import CLASSES
from paretosoc.dse.papers.estimator.settings import (
    EMBEDDING_HIDDEN,
    FEED_FORWARD,
    HEADS,
    LAYERS,
    WIDTH,
    EstimatorSettings,
    distances,
    sinusoids,
)

FIRST_TRUST = 1.4
"""Logarithm of the sharpness with which training begins: a deviation of half a class."""


class Embedding(nn.Module):
    """Composite embedding (4.1, Listing 1): a segment's figures, its component, its operating
    point, its place. The paper returns the three as a tuple. Here they are added."""

    def __init__(self, settings: EstimatorSettings) -> None:
        super().__init__()
        board = settings.board
        self.stretch = nn.Linear(settings.segment_features, EMBEDDING_HIDDEN)
        self.stretch_out = nn.Linear(EMBEDDING_HIDDEN, WIDTH)
        self.component = nn.Embedding(len(board.units), WIDTH)
        self.point = nn.Embedding(sum(board.points), WIDTH)
        self.summary = nn.Linear(settings.summary_inputs, EMBEDDING_HIDDEN)
        self.summary_out = nn.Linear(EMBEDDING_HIDDEN, WIDTH)
        self.register_buffer("sinusoid", torch.from_numpy(sinusoids()), persistent=False)

    def forward(self, inputs: TorchInputs) -> torch.Tensor:
        """Return [n, 1 + T, width]: the summary first."""
        stretch = self.stretch_out(functional.relu(self.stretch(inputs.figures)))
        place = functional.embedding(inputs.position, self.sinusoid)
        tokens = stretch + self.component(inputs.unit) + self.point(inputs.point) + place
        summary = self.summary_out(functional.relu(self.summary(inputs.summary)))
        return torch.cat((summary[:, None], tokens), dim=1)


class Layer(nn.Module):
    """Attention, then a feed-forward part, each added to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key_value = nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.before_feed = nn.LayerNorm(WIDTH)
        self.feed = nn.Linear(WIDTH, FEED_FORWARD)
        self.feed_out = nn.Linear(FEED_FORWARD, WIDTH)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, read: int) -> torch.Tensor:
        """Return [n, read, width]: the first ``read`` tokens of ``x`` [n, 1 + T, width]."""
        n, length, _ = x.shape
        normal = self.before_attention(x)
        query = self.query(normal[:, :read]).view(n, read, HEADS, -1).transpose(1, 2)
        key, value = self.key_value(normal).view(n, length, 2, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = x[:, :read] + self.out(mixed.transpose(1, 2).reshape(n, read, WIDTH))
        return x + self.feed_out(functional.relu(self.feed(self.before_feed(x))))


class Head(nn.Module):
    """The scores of 16 classes: a fully connected layer, as in the paper, on top of the short
    play's result, if there is one. That is a bell around its place on the scale of classes, as
    narrow as one more neuron trusts it. Before training the layer adds nothing to it."""

    def __init__(self, *, short_play: bool) -> None:
        super().__init__()
        self.classes = nn.Linear(WIDTH, CLASSES)
        nn.init.zeros_(self.classes.weight)
        nn.init.zeros_(self.classes.bias)
        self.trust = nn.Linear(WIDTH, 1) if short_play else None
        if self.trust is not None:
            nn.init.zeros_(self.trust.weight)
            nn.init.constant_(self.trust.bias, FIRST_TRUST)

    def forward(self, x: torch.Tensor, distance: torch.Tensor) -> torch.Tensor:
        """Return [n, 16] from the summary's token [n, width] and the short play's distances.

        These are [n, 1, 16], or [n, 0, 16] without a short play.
        """
        scores: torch.Tensor = self.classes(x)
        if self.trust is not None:
            scores = scores - torch.exp(self.trust(x)) * distance[:, 0]
        return scores


class Estimator(nn.Module):
    """Sequences to the scores of 16 classes of throughput and 16 of power."""

    def __init__(self, settings: EstimatorSettings) -> None:
        super().__init__()
        self.embedding = Embedding(settings)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.normal = nn.LayerNorm(WIDTH)
        self.throughput = Head(short_play=settings.short_play)
        self.power = Head(short_play=settings.short_play)

    def forward(self, inputs: TorchInputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores [n, 16] of throughput and of power."""
        x = self.embedding(inputs)
        present = functional.pad(inputs.present, (1, 0), value=True)
        mask = torch.zeros(present.shape).masked_fill(~present, float("-inf"))[:, None, None, :]
        for layer in self.layers[:-1]:
            x = layer(x, mask, x.shape[1])
        x = self.normal(self.layers[-1](x, mask, 1)[:, 0])
        throughput: torch.Tensor = self.throughput(x, inputs.distance[:, :1])
        return throughput, self.power(x, inputs.distance[:, 1:])


class TorchInputs:
    """A batch as tensors."""

    def __init__(self, inputs: Inputs) -> None:
        self.figures = torch.from_numpy(inputs.figures)
        self.unit = torch.from_numpy(inputs.unit)
        self.point = torch.from_numpy(inputs.point)
        self.position = torch.from_numpy(inputs.position)
        self.present = torch.from_numpy(inputs.present)
        self.summary = torch.from_numpy(inputs.summary)
        self.distance = torch.from_numpy(distances(inputs.places))


def parameter_count(model: nn.Module) -> int:
    """Return the number of learned parameters."""
    return sum(parameter.numel() for parameter in model.parameters())
