"""One layer of a network: operation, work and data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class LayerKind(Enum):
    """The kind of a layer, on which its cost and its support on a unit depend."""

    CONVOLUTION = "convolution"
    DECONVOLUTION = "deconvolution"
    MATRIX_PRODUCT = "matrix product"
    POOLING = "pooling"
    NORMALISATION = "normalisation"
    ACTIVATION = "activation"
    ELEMENTWISE = "element-wise"
    REDUCTION = "reduction"
    RESIZE = "resize"
    SOFTMAX = "softmax"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    CONCATENATION = "concatenation"
    DATA_MOVEMENT = "data movement"
    RESHAPE = "reshape"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Window:
    """The sliding window of a convolution or pooling. Every field has one entry per spatial
    dimension."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    """Begin of every dimension, then end of every dimension, as in ONNX."""
    dilations: tuple[int, ...]
    groups: int = 1


@dataclass(frozen=True)
class Layer:
    """One layer: counts are per inference and independent of the number format.

    ``macs`` are multiply-accumulates. ``parameters`` are the constants that the layer reads
    (weights, biases, scales). ``input_elements`` and ``output_elements`` count activations.
    ``fused_activation`` layers and the like are separate layers: grouping keeps them together.
    """

    name: str
    operation: str
    """The operator's own name, such as ``Conv`` or, outside the default domain, ``domain::Op``."""
    kind: LayerKind
    macs: int
    parameters: int
    input_elements: int
    output_elements: int
    input_shapes: tuple[tuple[int, ...], ...] = ()
    output_shapes: tuple[tuple[int, ...], ...] = ()
    window: Window | None = None
    axis: int | None = None
    """The axis a concatenation or softmax works along, counted from 0."""
    mode: str = ""
    """Mode of a resize: ``nearest``, ``cubic``, ``linear``. A linear one also says how it maps
    pixels, unless by their centres: ``linear asymmetric``."""
    result_elements: int = 0
    """Output elements that are results of the network although other layers read them too. Tensors
    that no layer reads are results anyway."""
    narrow_parameters: int = 0
    """Parameters stored in a byte or less. They are read as they are, whatever the number format of
    the computation."""
    narrow_bits: int = 0
    """Bits of the narrow parameters."""

    unread_parameters: int = 0
    """Entries of a table that no inference reads, as most of an embedding. Memory holds them, once
    for all layers that look up in it."""
    unread_narrow_bits: int = 0
    """Bits of such entries that are stored in a byte or less, which are not among the former."""

    def parameter_bytes(self, bytes_per_element: int) -> int:
        """Return the bytes of the constants if a number of the computation has
        ``bytes_per_element``."""
        wide = self.parameters - self.narrow_parameters
        return wide * bytes_per_element + -(-self.narrow_bits // 8)

    def held_bytes(self, bytes_per_element: int) -> int:
        """Return the bytes of the constants that memory holds: those that are read, and the rest of
        tables."""
        rest = self.unread_parameters * bytes_per_element + -(-self.unread_narrow_bits // 8)
        return self.parameter_bytes(bytes_per_element) + rest
