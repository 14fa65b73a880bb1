"""Small networks built by hand, for tests of costs."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.grouping.groups import Group, GroupEdge, GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind, Window

OPERATIONS = {
    LayerKind.CONVOLUTION: "Conv",
    LayerKind.DECONVOLUTION: "ConvTranspose",
    LayerKind.MATRIX_PRODUCT: "Gemm",
    LayerKind.POOLING: "MaxPool",
    LayerKind.NORMALISATION: "LRN",
    LayerKind.ACTIVATION: "Relu",
    LayerKind.ELEMENTWISE: "Add",
    LayerKind.REDUCTION: "ReduceMax",
    LayerKind.SOFTMAX: "Softmax",
    LayerKind.CONCATENATION: "Concat",
    LayerKind.DATA_MOVEMENT: "Transpose",
    LayerKind.RESHAPE: "Reshape",
}


def layer(
    name: str,
    kind: LayerKind,
    *,
    reads: Sequence[tuple[int, ...]] = ((1, 16, 8, 8),),
    writes: tuple[int, ...] = (1, 16, 8, 8),
    macs: int = 0,
    parameters: int = 0,
    operation: str = "",
    window: Window | None = None,
    axis: int | None = None,
    mode: str = "",
    result_elements: int = 0,
) -> Layer:
    return Layer(
        name=name,
        operation=operation or OPERATIONS.get(kind, kind.value),
        kind=kind,
        macs=macs,
        parameters=parameters,
        input_elements=sum(elements(shape) for shape in reads),
        output_elements=elements(writes),
        input_shapes=tuple(reads),
        output_shapes=(writes,),
        window=window,
        axis=axis,
        mode=mode,
        result_elements=result_elements,
    )


def elements(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def window(
    kernel: int = 3, stride: int = 1, pad: int = 1, dilation: int = 1, groups: int = 1
) -> Window:
    return Window((kernel,) * 2, (stride,) * 2, (pad,) * 4, (dilation,) * 2, groups)


def graph_of(
    layers: Sequence[Layer], wires: Sequence[tuple[int, int]], name: str = "net"
) -> SdfGraph:
    """A network whose layers are connected by ``wires`` (indices)."""
    return SdfGraph(
        name,
        tuple(Actor(item.name, item) for item in layers),
        tuple(
            Channel(
                layers[source].name,
                layers[target].name,
                layers[source].output_elements,
                layers[source].output_elements,
                name=f"t{source}",
            )
            for source, target in wires
        ),
    )


def grouped(
    layers: Sequence[Layer],
    wires: Sequence[tuple[int, int]],
    ends: Sequence[int],
    name: str = "net",
) -> GroupedNetwork:
    """The layers cut before each index of ``ends`` (the last one is their number)."""
    starts = [0, *ends[:-1]]
    home = {
        index: number
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        for index in range(start, end)
    }
    crossing: dict[tuple[int, int], int] = {}
    for source, target in wires:
        if home[source] != home[target]:
            key = (home[source], home[target])
            crossing[key] = crossing.get(key, 0) + layers[source].output_elements
    return GroupedNetwork(
        name,
        graph_of(layers, wires, name),
        tuple(
            Group(f"g{number}", tuple(layers[start:end]), 0, 0)
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        ),
        tuple(GroupEdge(*ends, count) for ends, count in sorted(crossing.items())),
    )


def chain(layers: Sequence[Layer], ends: Sequence[int], name: str = "net") -> GroupedNetwork:
    wires = [(index, index + 1) for index in range(len(layers) - 1)]
    return grouped(layers, wires, ends, name)
