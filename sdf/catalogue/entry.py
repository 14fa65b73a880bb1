"""Networks of the catalogue, described without building them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a network, with what it is a share of, and who says so."""

    percent: float
    metric: str = ""
    source: str = ""


@dataclass(frozen=True)
class CatalogueEntry:
    """A network of the catalogue, described without building it."""

    name: str
    family: str
    description: str
    origin: str
    """The source of its layers."""
    input_shape: tuple[int, ...]
    """Batch, channels, height, width. For a language model: batch and tokens."""
    macs: int
    parameters: int
    """Parameters that an inference reads."""
    accuracy: Accuracy | None = None
    """With its published weights, at this input."""

    @property
    def takes_images(self) -> bool:
        """Return whether its input is an image."""
        return len(self.input_shape) == 4
