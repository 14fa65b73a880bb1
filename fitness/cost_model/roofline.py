"""The estimate: the parts of the time of a group from its multiply-accumulates and bytes.

For a launch, compute = MACs, padded to the unit's tiles, / (peak x efficiency of the layer's class)
and memory = bytes / (peak bandwidth x the unit's share), both at the fastest clocks. They follow
the clocks by :mod:`fitness.cost_model.clock_law`. A launch, and a network, takes a fixed time
besides. ``benchmarks.fit_costs`` fits the figures to measured networks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import prod

from paretosoc.common.units import TRAFFIC_PER_BYTE
from paretosoc.fitness.cost_model.clock_law import LaunchTime, TimeParts
from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.platforms.platform import Peak, Platform, Tile, Unit
from paretosoc.sdf.layer import Layer, LayerKind

CYCLES_PER_PS = Fraction(1, 10**9)
"""Cycles of a clock of 1 kHz in a picosecond."""
DEPTHWISE = "depthwise convolution"
"""Class of convolutions with a single input channel per group."""
GROUPED = "grouped convolution"
POINTWISE = "pointwise convolution"
FAST = "3 x 3 convolution"
"""Class of convolutions for which fast algorithms exist: 3 x 3, ungrouped, by steps of one."""
PRODUCT = "product of activations"
ELEMENTS = "elements"
"""Class of launches without multiply-accumulates: one operation for each element written. They
compute on units that have an efficiency of it, or of their first layer's kind, which precedes. On
others traffic bounds them."""
LINEAR_RESIZE = "linear resize"
"""Class of resizes that interpolate between pixels."""
CROSSING = 10
"""Of so many activations one passes from one context of a network to the next. Chosen by the errors
of networks that were left out."""
SEVERAL = {DEPTHWISE: 3, ELEMENTS: 3}
"""In several contexts these take so many times as long as in one, where all layers work at once on
images that follow each other. Chosen by the errors of networks that were left out."""
FREE_ACTIVATIONS = frozenset(
    {"Relu", "LeakyRelu", "PRelu", "ThresholdedRelu", "Clip", "QLinearLeakyRelu"}
)
"""Activations that cost nothing behind a multiply-accumulate."""
TRANSFORM_MACS = 48
"""Work of transforming one value for Winograd's algorithm, or back, in multiply-accumulates. Chosen
by the errors of networks that were left out."""
WHOLE_CHANNELS = frozenset({"DepthToSpace", "SpaceToDepth"})
"""Operations that move whole channels, which computes nothing: traffic bounds them."""
CLASSES = (DEPTHWISE, GROUPED, POINTWISE, FAST, PRODUCT, ELEMENTS)
"""Classes of layers finer than their kind. A peak may name an efficiency for each."""


@dataclass(frozen=True)
class UnitModel:
    """The figures of one unit in one number format, at the fastest clocks."""

    name: str
    macs_per_ps: Fraction
    efficiency: dict[str, Fraction]
    tile: Tile
    bytes_per_ps: Fraction
    bytes_per_element: int
    bandwidth_share: Fraction
    kept_bytes: int
    """Constants and activations of a network that stay on the chip."""
    kept_activation_bytes: int
    """Activations of a launch that stay on the chip."""
    overlap: Fraction
    fixed_ps: int
    setup_ps: int
    """Time that a network takes once."""
    fixed_own_share: Fraction

    @cached_property
    def rates(self) -> dict[str, Fraction]:
        """Return by efficiency the operations per ps."""
        return {key: self.macs_per_ps * share for key, share in self.efficiency.items()}


def unit_model(unit: Unit, platform: Platform, peak: Peak) -> UnitModel:
    """Return the figures of ``unit`` with ``peak`` at the fastest clocks.

    A unit without a share works in memory of its own: its elements have no bytes.
    """
    own = platform.ladder_khz(unit.clocks[0])[-1]
    share = unit.share_of(peak)
    fixed_ns = unit.fixed_ns_per_layer if peak.ns_per_layer is None else peak.ns_per_layer
    efficiency = dict(peak.efficiency)
    if unit.kind == "cpu":
        # The vector lanes that multiply do all other work, too.
        efficiency.setdefault(ELEMENTS, efficiency["default"])
    return UnitModel(
        name=unit.name,
        macs_per_ps=peak.macs_per_cycle * own * CYCLES_PER_PS,
        efficiency=efficiency,
        tile=peak.tile,
        bytes_per_ps=(share or 1) * platform.memory_peak_kbps * CYCLES_PER_PS,
        bytes_per_element=peak.bytes_per_element if share else 0,
        bandwidth_share=share,
        kept_bytes=unit.kept_bytes,
        kept_activation_bytes=unit.kept_activation_bytes,
        overlap=unit.clock_law.overlap,
        fixed_ps=fixed_ns * 1000,
        setup_ps=peak.ns_per_network * 1000,
        fixed_own_share=unit.fixed_own_share,
    )


def class_of(layer: Layer) -> str:
    """Return the class that the efficiency of ``layer`` depends on."""
    if layer.kind is LayerKind.MATRIX_PRODUCT and not layer.parameters:
        return PRODUCT
    window = layer.window
    if layer.kind is not LayerKind.CONVOLUTION or window is None:
        return layer.kind.value
    if window.groups > 1:
        single = layer.input_shapes and window.groups == layer.input_shapes[0][1]
        return DEPTHWISE if single else GROUPED
    if max(window.kernel) == 1:
        return POINTWISE
    fast = window.kernel == (3, 3) and max(*window.strides, *window.dilations) == 1
    return FAST if fast else layer.kind.value


def efficiency_key(layer: Layer, known: Container[str]) -> str:
    """Return which of the ``known`` efficiencies multiply-accumulates of ``layer`` have."""
    return next((key for key in (class_of(layer), layer.kind.value) if key in known), "default")


_UNTILED = Tile()


def padded_macs(layer: Layer, tile: Tile) -> Fraction | int:
    """Return the multiply-accumulates of a convolution or product, padding of tiles included.

    The pixels of all images of a batch are the rows of a convolution. Rows of products are not
    padded: with few of them a product waits for its constants. A depthwise convolution does not run
    on tiles. Winograd's algorithm is used if it takes less.
    """
    tiled = layer.kind in (LayerKind.CONVOLUTION, LayerKind.MATRIX_PRODUCT)
    if not tiled or not layer.macs or tile == _UNTILED or class_of(layer) == DEPTHWISE:
        return layer.macs
    shape, window, elements = layer.output_shapes[0], layer.window, layer.output_elements
    groups = 1 if window is None else window.groups
    channels = shape[-1] if window is None else max(1, shape[1] // groups)
    outputs = channels * groups
    rows = max(1, elements // outputs)
    padded = _padded(channels, tile.channels) * _padded(rows, 1 if window is None else tile.rows)
    # Of integers up to the end: fractions take most of the time of an estimate.
    packed = layer.macs * (outputs + tile.packing) + tile.start_macs * elements * outputs
    direct = Fraction(packed * padded, outputs * channels * rows)
    if not tile.winograd or class_of(layer) != FAST:
        return direct
    height, width = (-(-side // tile.winograd) for side in shape[-2:])
    values = rows // (shape[-2] * shape[-1]) * height * width * (tile.winograd + 2) ** 2
    # Each value has a product for every pair of an input channel, macs / (9 elements) of them, and
    # an output channel.
    products = layer.macs * (outputs + tile.packing)
    transforms = TRANSFORM_MACS * (layer.macs + 9 * elements * outputs)
    return min(direct, Fraction(values * (products + transforms), 9 * elements))


def fewest_macs(layer: Layer, tile: Tile) -> Fraction | int:
    """Return the multiplications of ``layer`` that no algorithm of a unit with ``tile`` saves.

    Winograd's F(t x t, 3 x 3) has (t + 2)^2 for 9 t^2 multiply-accumulates (Lavin and Gray, CVPR
    2016).
    """
    t = tile.winograd
    if not t or class_of(layer) != FAST:
        return layer.macs
    return Fraction(layer.macs * (t + 2) ** 2, 9 * t**2)


def _padded(size: int, multiple: int) -> int:
    """Return ``size`` with the padding to a multiple."""
    return -(-size // multiple) * multiple


def group_parts(
    launches: Sequence[Launch], model: UnitModel, setup_ps: Fraction = Fraction(0)
) -> TimeParts:
    """Return the parts of the time of a group's launches on a unit. Each takes ``setup_ps`` of the
    time that a network takes once."""
    pairs: Counter[tuple[Fraction, int]] = Counter()
    fixed = Fraction(0)
    shares = [model.bandwidth_share]
    for launch in launches:
        if launch.is_free:
            continue
        fixed += model.fixed_ps + setup_ps
        work = launch_work(launch, model)
        pairs[work, moved_bytes(launch, model)] += 1
        if work:
            # Work that tiles add is none of the layers, so a measurement may take it away.
            fewest = sum(fewest_macs(layer, model.tile) for layer in launch.layers)
            shares.append(fewest / (model.macs_per_ps * work))
    return TimeParts(
        launches=tuple(
            LaunchTime(work, size / model.bytes_per_ps, count)
            for (work, size), count in pairs.items()
            if work or size
        ),
        overlap=model.overlap,
        peak_share=max(shares),
        fixed=fixed,
        traffic=sum(count * size for (_, size), count in pairs.items()) * TRAFFIC_PER_BYTE,
        own_share=model.fixed_own_share,
    )


def network_parts(groups: Sequence[Sequence[Launch]], model: UnitModel) -> list[TimeParts]:
    """Return the parts of the time of every group. The time that a network takes once is shared out
    over its launches."""
    model = loaded(groups, model)
    count = sum(not launch.is_free for group in groups for launch in group)
    setup = Fraction(model.setup_ps, max(1, count))
    return [group_parts(group, model, setup) for group in groups]


def loaded(groups: Sequence[Sequence[Launch]], model: UnitModel) -> UnitModel:
    """Return the figures of a unit that holds a network: if its constants and activations fit on
    the chip, and it has no product of two activations, nothing moves and no launch is waited for.
    Else it runs in several contexts.
    """
    if not model.kept_bytes:
        return model
    launches = [launch for group in groups for launch in group]
    size = model.bytes_per_element
    held = sum(layer.parameter_bytes(size) for launch in launches for layer in launch.layers)
    held += sum(size * one.layers[-1].output_elements for one in launches if not one.is_free)
    classes = {class_of(layer) for launch in launches for layer in launch.layers}
    if held > model.kept_bytes or classes & {PRODUCT, LayerKind.ATTENTION.value}:
        slower = {key: share / SEVERAL.get(key, 1) for key, share in model.efficiency.items()}
        return replace(model, efficiency=slower)
    return replace(model, bytes_per_element=0, bandwidth_share=Fraction(0), fixed_ps=0)


def moved_bytes(launch: Launch, model: UnitModel) -> int:
    """Return the bytes that a launch moves: constants, and activations that do not stay on the
    chip. Of a network in several contexts those do that pass from one to the next."""
    constants = sum(layer.parameter_bytes(model.bytes_per_element) for layer in launch.layers)
    moved = launch.moved_bytes(model.bytes_per_element)
    if model.kept_bytes:
        return constants + (moved - constants) // CROSSING
    kept = model.kept_activation_bytes
    return constants if kept and moved - constants <= kept else moved


def launch_work(launch: Launch, model: UnitModel) -> Fraction:
    """Return the time of a launch's computing at the fastest clock, ps."""
    operations = launch_operations(launch, model.tile, model.efficiency)
    return sum((count / model.rates[key] for key, count in operations.items()), Fraction(0))


def launch_operations(
    launch: Launch, tile: Tile, known: Container[str]
) -> dict[str, Fraction | int]:
    """Return what a launch computes by the efficiency, of the ``known`` ones, that it has."""
    found: dict[str, Fraction | int] = {}
    for layer in launch.layers:
        if layer.macs:
            key = efficiency_key(layer, known)
            found[key] = found.get(key, 0) + padded_macs(layer, tile)
    if found and ELEMENTS in known:
        activations = tile.activation_operations * activated_elements(launch)
        joined = tile.joined_operations * joined_elements(launch)
        first = launch.layers[0]
        shape = first.output_shapes[0] or (1,)
        channels = max(1, shape[-1 if first.window is None else 1])
        padding = Fraction(_padded(channels, tile.lanes), channels)
        results = tile.result_operations * launch.layers[-1].output_elements
        beside = padding * (activations + joined) + results
        found |= {ELEMENTS: beside} if beside else {}
    elements = element_key(launch, known)
    if not found and elements is not None:
        found[elements] = launch.computed_elements
        if tile.lanes > 1:
            found[elements] -= sum(layer.output_elements for layer in launch.scales)
    return found


def activated_elements(launch: Launch) -> int:
    """Return how many results of a launch with multiply-accumulates pass an activation with a cost
    of its own."""
    return sum(
        layer.output_elements
        for layer in launch.layers
        if layer.kind is LayerKind.ACTIVATION and layer.operation not in FREE_ACTIVATIONS
    )


def joined_elements(launch: Launch) -> int:
    """Return how many results the element-wise layers of a launch with multiply-accumulates have,
    and elements the second of two activations that are multiplied.

    A bias and a scale that is one number are part of the product. So are steps of an operator that
    was written out, and the scale and shift of a batch normalisation.
    """
    steps = {layer.name for layer in chain(launch.scales, *launch.operators)}
    count, before = 0, launch.layers[0]
    for layer in launch.layers:
        if class_of(layer) == PRODUCT:
            count += prod(layer.input_shapes[-1])
        elif layer.kind is LayerKind.ELEMENTWISE and layer.name not in steps:
            width = layer.output_shapes[0][-1] if layer.output_shapes[0] else 1
            is_bias = before.macs and layer.operation == "Add" and layer.parameters == width
            is_binary = len(layer.input_shapes) > 1 or layer.parameters > 1
            count += layer.output_elements if is_binary and not is_bias else 0
        before = layer if layer.kind is not LayerKind.RESHAPE else before
    return count


def element_key(launch: Launch, known: Container[str]) -> str | None:
    """Return which of the ``known`` efficiencies a launch without multiply-accumulates has."""
    first = launch.layers[0]
    if first.operation in WHOLE_CHANNELS:
        return None
    is_linear = first.kind is LayerKind.RESIZE and first.mode.startswith("linear")
    keys = (*((LINEAR_RESIZE,) if is_linear else ()), launch.kind.value, ELEMENTS)
    return next((key for key in keys if key in known), None)
