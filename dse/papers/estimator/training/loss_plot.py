"""The loss over a training as a picture (MapFormer, Fig. 5)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training data gave."""

    number: int
    training_loss: float
    """Cross-entropy of both heads, added, as met on the way."""
    loss: float
    """The same on the examples for validation, afterwards."""
    throughput_accuracy: float
    """Of the examples for validation: share of the exact classes."""
    power_accuracy: float


def loss_svg(epochs: Sequence[Epoch], best: int) -> bytes:
    """Cross-entropy and accuracy over the epochs; ``best`` is the one that was kept."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    numbers = [epoch.number for epoch in epochs]
    with pyplot.rc_context({"svg.hashsalt": "paretosoc", "svg.fonttype": "none"}):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
        left.plot(numbers, [epoch.training_loss for epoch in epochs], label="training")
        left.plot(numbers, [epoch.loss for epoch in epochs], label="validation")
        left.set_ylabel("cross-entropy, both heads")
        right.plot(numbers, [100 * e.throughput_accuracy for e in epochs], label="throughput")
        right.plot(numbers, [100 * e.power_accuracy for e in epochs], label="power")
        right.set_ylabel("exact classes of the validation, %")
        for axes in (left, right):
            axes.set_xlabel("epoch")
            axes.axvline(best, color="0.7", linewidth=1, label="kept")
            axes.grid(alpha=0.3)
            axes.legend(frameon=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return buffer.getvalue()
