"""Units that are fitted together, their priors and tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from benchmarks.fit_costs.fit import Prior
from benchmarks.fit_costs.samples import (
    ELEMENT_KINDS,
    LATER_FAMILIES,
    NEW_FAMILIES,
    OLDER_GPUS,
    Entry,
    Measured,
    Sample,
    of_sets,
    parts_of,
    published,
    sample,
)
from paretosoc.fitness.cost_model.roofline import DEPTHWISE, ELEMENTS, PRODUCT
from paretosoc.platforms.platform import Tile
from paretosoc.sdf.layer import LayerKind

AMPERE = Tile(start_macs=256, channels=64)
VOLTA = Tile(start_macs=128, channels=64, rows=64, activation_operations=Fraction(1))
"""Chosen by the errors of batches on Xavier and Xavier NX, then taken for ResNet-50's in FP16.
Without the operation of an activation YOLOv8 and YOLOX on Xavier NX, left out together, are
estimated a tenth too fast in the median."""
VOLTA_FP32 = Tile(channels=64, rows=64, winograd=2)
SCUDNN = Tile(channels=32, rows=128, activation_operations=Fraction(1))
"""The tile of cuDNN's kernels scudnn_128x32. It and Volta's in FP32 were chosen by the errors of
networks that were left out."""
HTP_FP16 = Tile(activation_operations=Fraction(1, 2), joined_operations=Fraction(1), lanes=64)
HTP_INT8 = Tile(activation_operations=Fraction(1, 10), lanes=128)
"""Vectors have 128 bytes."""
RKNN = Tile(start_macs=128, packing=16, channels=32)


@dataclass(frozen=True)
class Pool:
    """Entries of similar units: ``platforms`` is the beginning of their names, () any."""

    name: str
    kind: str
    formats: tuple[str, ...]
    prior: Prior
    platforms: tuple[str, ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    """Platforms and formats of another pool, or that are left as they are: the joint NPU was set to
    language models."""
    tiles: tuple[tuple[str, Tile], ...] = ()
    """By the beginning of a platform's name, the first that fits."""
    activation_operations: tuple[tuple[str, Fraction], ...] = ()
    """By number format; those of the tile if not named."""
    more_sets: tuple[str, ...] = ()
    """Sets that it is fitted to beside those of all pools."""

    def holds(self, entry: Entry) -> bool:
        """Return whether an entry belongs to it."""
        _, unit, _ = parts_of(entry)
        named = not self.platforms or entry[0].startswith(self.platforms)
        here = named and (entry[0], entry[2]) not in self.without
        return unit.kind == self.kind and entry[2] in self.formats and here

    def tile_of(self, entry: Entry) -> Tile:
        """Return the tile of an entry."""
        tile = next((tile for name, tile in self.tiles if entry[0].startswith(name)), Tile())
        activations = dict(self.activation_operations).get(entry[2], tile.activation_operations)
        return replace(tile, activation_operations=activations)

    @property
    def elements(self) -> tuple[str, ...]:
        """Return the efficiencies that launches without multiply-accumulates have."""
        return tuple(k for k, _ in self.prior.classes if k in (ELEMENTS, *ELEMENT_KINDS))

    def samples(self, measured: Sequence[Measured] = ()) -> list[Sample]:
        """Return its networks of those measured, by default of all published."""
        known = measured or (*published(), *of_sets(self.more_sets))
        held = [one for one in known if self.holds(one.entry)]
        return [sample(one, self.tile_of(one.entry), self.elements) for one in held]

    def judges(self) -> list[Sample]:
        """Return the networks of other families that it is not fitted to. They count among those
        that were left out."""
        others = [one for one in (*NEW_FAMILIES, *LATER_FAMILIES) if one not in self.more_sets]
        return self.samples(of_sets(others)) if others else []


_CPU = Prior(share=0.4, us_per_layer=15, class_sd=0.7, classes=((ELEMENTS, 1.0),))
_X86 = tuple(("intel-core-ultra-7-155h", name) for name in ("fp32", "fp16", "int8"))
"""OpenVINO on x86: the others are Arm cores with ncnn and QNN."""
_HTP = Prior(
    share=0.8,
    us_per_layer=0.3,
    us_per_network=100,
    fixed_sd=0.5,
    classes=((DEPTHWISE, 0.3), (ELEMENTS, 0.02), (LayerKind.POOLING.value, 0.1)),
)
"""All layers are compiled into one program, whose steps need no launch."""
_HTP_FP16 = replace(_HTP, classes=(*_HTP.classes, (LayerKind.NORMALISATION.value, 0.02)))
POOLS = (
    Pool(
        "GPUs with tensor cores",
        "gpu",
        ("fp32", "fp16", "int8"),
        Prior(
            efficiency=0.5,
            share=0.7,
            efficiency_sd=0.3,
            class_sd=0.8,
            share_sd=0.3,
            classes=((DEPTHWISE, 0.1), (ELEMENTS, 0.02)),
        ),
        ("jetson-agx-xavier", "jetson-xavier", "jetson-agx-orin", "jetson-orin"),
        (("jetson-agx-xavier", "fp32"), ("jetson-xavier-nx", "fp32")),
        (("jetson-agx-xavier", VOLTA), ("jetson-xavier", VOLTA), ("jetson", AMPERE)),
        (("int8", Fraction(4)),),
        more_sets=(*NEW_FAMILIES, "supergradients_xavier_nx"),
    ),
    Pool(
        "GPUs without tensor cores",
        "gpu",
        ("fp32", "fp16"),
        Prior(
            efficiency=0.5,
            share=0.7,
            us_per_layer=30,
            classes=((DEPTHWISE, 0.1), (ELEMENTS, 0.05)),
        ),
        ("jetson-agx-xavier", "jetson-nano", "jetson-tx2", "jetson-xavier"),
        (("jetson-agx-xavier", "fp16"), ("jetson-xavier-nx", "fp16")),
        (("jetson-agx-xavier", VOLTA_FP32), ("jetson-xavier", VOLTA_FP32), ("jetson", SCUDNN)),
        more_sets=OLDER_GPUS,
    ),
    Pool(
        "DLAs",
        "dla",
        ("fp16", "int8"),
        Prior(efficiency=0.6, share=0.2, classes=((DEPTHWISE, 0.1),)),
    ),
    Pool(
        "CPUs in FP32 and FP16",
        "cpu",
        ("fp32", "fp16"),
        replace(_CPU, efficiency_sd=0.3),
        without=_X86,
        tiles=(("", Tile(packing=16, winograd=6)),),
    ),
    Pool(
        "CPUs in INT8",
        "cpu",
        ("int8",),
        _CPU,
        without=_X86,
        tiles=(("", Tile(start_macs=48, packing=64)),),
    ),
    Pool("Core Ultra's CPU", "cpu", ("fp16",), _CPU, ("intel",)),
    Pool(
        "Core Ultra's GPU",
        "gpu",
        ("fp16",),
        Prior(efficiency=0.3, share=0.6, us_per_layer=30, classes=((DEPTHWISE, 0.3),)),
        ("intel",),
        tiles=(("", Tile(winograd=6)),),
    ),
    Pool(
        "Core Ultra's NPU",
        "npu",
        ("fp16",),
        Prior(efficiency=0.3, share=0.5, us_per_network=300, classes=((DEPTHWISE, 0.3),)),
        ("intel",),
    ),
    Pool(
        "Snapdragon NPUs in FP16",
        "npu",
        ("fp16",),
        _HTP_FP16,
        ("snapdragon",),
        tiles=(("", HTP_FP16),),
    ),
    Pool(
        "Snapdragon NPUs in INT8",
        "npu",
        ("int8",),
        _HTP,
        ("snapdragon",),
        tiles=(("", HTP_INT8),),
        more_sets=(*NEW_FAMILIES, *LATER_FAMILIES),
    ),
    Pool(
        "RK3588's NPU",
        "npu",
        ("int8",),
        Prior(efficiency=0.5, share=0.3, classes=((ELEMENTS, 0.01),)),
        ("rk3588",),
        (("rk3588-joint-npu", "int8"),),
        (("rk3588", RKNN),),
    ),
    Pool(
        "Hailo",
        "npu",
        ("int8",),
        Prior(
            efficiency=0.45,
            share=0.176,
            us_per_layer=10,
            us_per_network=200,
            efficiency_sd=0.5,
            class_sd=0.2,
            share_sd=0.2,
            fixed_sd=0.7,
            classes=(
                (ELEMENTS, 0.003),
                (DEPTHWISE, 0.01),
                (PRODUCT, 0.01),
                (LayerKind.ATTENTION.value, 0.01),
            ),
        ),
        ("raspberry-pi-5-hailo",),
        tiles=(("raspberry", Tile(result_operations=Fraction(1))),),
    ),
)
