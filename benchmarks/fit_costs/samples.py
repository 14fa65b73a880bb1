"""Measured networks, and the parts of the cost model for their launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from benchmarks.catalogue.yolo import SIZES, build_yolo
from benchmarks.validation.published import read_set
from paretosoc.common.arrays import FloatArray
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.cost_model.clock_law import Ratios
from paretosoc.fitness.cost_model.fusion import Launch, network_launches
from paretosoc.fitness.cost_model.roofline import (
    CLASSES,
    ELEMENTS,
    UnitModel,
    launch_operations,
    loaded,
    moved_bytes,
    network_parts,
    unit_model,
)
from paretosoc.fitness.costs.scale_to_measured import clock_ratios
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.measurement import is_same_network
from paretosoc.platforms.platform import Peak, Platform, Tile, Unit
from paretosoc.sdf.catalogue.catalogue import catalogue, load_network, model_file
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork, import_onnx_bytes

SETS = (
    "aihub_npu",
    "ncnn_cpu",
    "trtutils_yolov8",
    "ultralytics_yolo11",
    "ultralytics_ncnn",
    "orin_mlperf31",
    "netspresso_orin",
    "hailo_zoo",
)
NEW_FAMILIES = tuple(
    f"{source}_new_families"
    for source in ("trtutils", "aihub", "mlperf31", "nanosam", "rknn_zoo", "efficientvit")
)
LATER_FAMILIES = ("aihub_later_families",)
"""Sets that were taken when all pools had been fitted."""
OLDER_GPUS = (
    "tkdnn_yolov4",
    "tensorrt_demos_yolo",
    "aicast_yolox",
    "kentaroy47_resnets",
    "jkjung_googlenet",
)
"""Further sets, to which a pool is fitted only if its ``more_sets`` names them."""
ELEMENT_KINDS = tuple(
    kind.value for kind in (LayerKind.POOLING, LayerKind.NORMALISATION, LayerKind.DATA_MOVEMENT)
)
"""Kinds of layers without multiply-accumulates whose efficiency may be fitted."""
KEYS = (
    "default",
    LayerKind.CONVOLUTION.value,
    *CLASSES,
    *ELEMENT_KINDS,
    LayerKind.MATRIX_PRODUCT.value,
    LayerKind.ATTENTION.value,
)
"""Efficiencies that are fitted."""
LACKING = {
    ("aihub_npu", "googlenet"): "LRN",
    ("hailo_zoo", "yolov4"): "Softplus",
}
"""Operations that a set's network lacks: torchvision's GoogLeNet does not normalise responses, and
Hailo's YOLOv4 has leaky ReLU in place of Mish, of which softplus is the first step."""
Entry = tuple[str, str, str]
"""Platform, unit, number format."""


@dataclass(frozen=True)
class Measured:
    """A network's time on a unit, at clocks in kHz by domain."""

    entry: Entry
    network: str
    pixels: int
    clocks: tuple[tuple[str, int], ...]
    ms: float
    without: str = ""
    """An operation of the catalogue's network that the measured one lacks."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A measured network as the fit sees it.

    ``compute``: [launches, KEYS] ms at the peak, at the measurement's clocks. ``memory``:
    [launches] ms at the memory's whole bandwidth. ``launches``: their number, times the ratio of
    launching at these clocks; 0 if none is waited for. ``held``: the launches, which run on a unit
    of ``model`` at clocks of ``ratios``.
    """

    measured: Measured
    compute: FloatArray
    memory: FloatArray
    launches: float
    setups: float
    overlap: float
    macs: int
    held: Sequence[Launch]
    model: UnitModel
    ratios: Ratios

    @cached_property
    def estimate_ms(self) -> float:
        """Return the time by the platform file."""
        (parts,) = network_parts([self.held], self.model)
        return float(parts.at(self.ratios)) / PS_PER_MS


@cache
def published() -> tuple[Measured, ...]:
    """Return all measured networks: of the sets, and of platform files."""
    found = of_sets(SETS)
    seen = {(one.entry, one.network) for one in found}
    found += [one for one in _of_platforms() if (one.entry, one.network) not in seen]
    return tuple(found)


def of_sets(names: Sequence[str]) -> list[Measured]:
    """Return the measured networks of sets."""
    found = []
    for name in names:
        for row in read_set(name).rows:
            platform, unit, precision, network = (
                str(row[key]) for key in ("platform", "unit", "precision", "network")
            )
            names = load_platform(platform).unit_by_name[unit].clocks
            mhz = {names[0]: row["own"], names[-1]: row["memory"]}
            clocks = tuple((key, round(1000 * float(value))) for key, value in mhz.items())
            entry, pixels = (platform, unit, precision), int(float(row["pixels"]))
            lacks = LACKING.get((name, network), "")
            found.append(Measured(entry, network, pixels, clocks, float(row["latency"]), lacks))
    return found


def _of_platforms() -> list[Measured]:
    found = []
    for name in platform_names():
        platform = load_platform(name)
        for record in platform.measurements:
            known = [
                entry
                for entry in catalogue()
                if is_same_network(entry.name, entry.macs, record.names, record.macs)
            ]
            if record.time_ps is None or not known or not known[0].takes_images:
                continue
            # The model file of HaX-CoNN's VGG-19 lacks the large products, and the measured times
            # leave no room for their weights.
            lacks = "Gemm" if known[0].name == "vgg19" else ""
            entry = (name, record.units[0], record.precision)
            ms = record.time_ps / PS_PER_MS
            pixels = known[0].input_shape[-1]
            found.append(Measured(entry, known[0].name, pixels, record.clocks_khz, ms, lacks))
    return found


def _resized(name: str, pixels: int) -> ImportedNetwork:
    """Return a network of the catalogue, a convolutional one also for square images of another
    size."""
    import onnx

    entry = next(entry for entry in catalogue() if entry.name == name)
    if entry.input_shape[-1] == pixels:
        return load_network(name)
    if name in SIZES:
        data = build_yolo(name, pixels)
    else:
        model = onnx.load_from_string(model_file(name).data)
        whole_image = onnx.helper.make_attribute("kernel_shape", (7, 7))
        for dimension in model.graph.input[0].type.tensor_type.shape.dim[2:]:
            dimension.dim_value = pixels
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        for node in model.graph.node:
            # The mean of a whole image stays one.
            if node.op_type == "AveragePool" and whole_image in node.attribute:
                node.CopyFrom(onnx.helper.make_node("GlobalAveragePool", node.input, node.output))
        data = model.SerializeToString()
    return import_onnx_bytes(data, name=name, folder=None, dimensions={}, label=name)


@cache
def launches_of(
    network: str, pixels: int, separate: frozenset[str] = frozenset()
) -> tuple[Launch, ...]:
    """Return the launches of a network of the catalogue, for images of a size, on a unit that does
    not fuse the operations ``separate``."""
    grouped = group_network(_resized(network, pixels).graph, None, groups=1)
    return tuple(launch for group in network_launches(grouped, separate) for launch in group)


def parts_of(entry: Entry) -> tuple[Platform, Unit, Peak]:
    """Return the platform, unit and peak of an entry."""
    platform = load_platform(entry[0])
    unit = platform.unit_by_name[entry[1]]
    return platform, unit, unit.peak_by_format[entry[2]]


@cache
def sample(measured: Measured, tile: Tile, elements: tuple[str, ...]) -> Sample:
    """Return the launches of a measured network on tiles. ``elements``: efficiencies that launches
    without multiply-accumulates have."""
    platform, unit, peak = parts_of(measured.entry)
    model = unit_model(unit, platform, peak)
    ratios = clock_ratios(unit, platform, measured.clocks)
    launches = [
        launch
        for launch in launches_of(measured.network, measured.pixels, unit.separate_operations)
        if not launch.is_free and launch.layers[0].operation != measured.without
    ]
    compute = np.zeros((len(launches), len(KEYS)))
    scale = float(ratios.own / model.macs_per_ps) / PS_PER_MS
    known = {*KEYS} - {ELEMENTS, *ELEMENT_KINDS} | {*elements}
    every = replace(
        model,
        bytes_per_element=peak.bytes_per_element,
        efficiency=dict.fromkeys(known, Fraction(1)),
    )
    own = loaded([launches], every)
    for row, launch in enumerate(launches):
        for key, operations in launch_operations(launch, tile, known).items():
            compute[row, KEYS.index(key)] = float(operations / own.efficiency[key]) * scale
    whole = platform.memory_peak_kbps / float(ratios.memory)
    memory = [moved_bytes(launch, own) / whole for launch in launches]
    launching = float(unit.fixed_own_share * ratios.own + (1 - unit.fixed_own_share) * ratios.host)
    waited = 0 if own.fixed_ps < model.fixed_ps else len(launches) * launching
    return Sample(
        measured,
        compute,
        np.array(memory),
        waited,
        launching,
        float(unit.clock_law.overlap),
        sum(layer.macs for launch in launches for layer in launch.layers),
        launches,
        model,
        ratios,
    )
