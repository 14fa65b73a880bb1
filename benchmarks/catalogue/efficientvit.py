"""EfficientViT for segmentation: timm's network below a head of PyTorch's layers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.catalogue.source import Source

WIDTHS = {"b0": 32, "b1": 64, "b2": 96, "b3": 128}
"""Channels of the head, by size."""
SAYS = "https://github.com/mit-han-lab/efficientvit/tree/master/applications/efficientvit_seg"


def sources() -> Iterator[Source]:
    """Return all of them."""
    import timm
    from torch.nn import BatchNorm2d, Conv2d, Hardswish, Module, ModuleList, Sequential
    from torch.nn.functional import interpolate

    def normalised(before: int, after: int) -> list[Any]:
        return [Conv2d(before, after, 1, bias=False), BatchNorm2d(after)]

    def inverted(width: int) -> Any:
        """Build an inverted residual with four times the channels inside."""
        inner = 4 * width
        depthwise = Conv2d(inner, inner, 3, padding=1, groups=inner)
        first = [Conv2d(width, inner, 1), Hardswish(), depthwise, Hardswish()]
        return Sequential(*first, *normalised(inner, width))

    class Segmentation(Module):  # type: ignore[misc]
        """Adds the last three levels, and puts residuals and classes on top."""

        def __init__(self, size: str, classes: int) -> None:
            super().__init__()
            width = WIDTHS[size]
            self.trunk = timm.create_model(f"efficientvit_{size}", features_only=True)
            levels = self.trunk.feature_info.channels()[-3:]
            self.joins = ModuleList(Sequential(*normalised(level, width)) for level in levels)
            self.blocks = ModuleList(inverted(width) for _ in range(1 if size == "b0" else 3))
            wide = [*normalised(width, 4 * width), Hardswish()] if classes == 19 else []
            self.last = Sequential(*wide, Conv2d(4 * width if wide else width, classes, 1))

        def forward(self, x: Any) -> Any:
            levels = self.trunk(x)[-3:]
            parts = [join(level) for join, level in zip(self.joins, levels, strict=True)]
            size = parts[0].shape[-2:]
            y = parts[0]
            for part in parts[1:]:
                y = y + interpolate(part, size=size, mode="bicubic")
            for block in self.blocks:
                y = y + block(y)
            return self.last(y)

    for data, classes, shape, percents in (
        ("cityscapes", 19, (1, 3, 1024, 2048),
         {"b0": 75.653, "b1": 80.547, "b2": 82.073, "b3": 83.016}),
        ("ade20k", 150, (1, 3, 512, 512), {"b1": 42.840, "b2": 45.941, "b3": 49.013}),
    ):  # fmt: skip
        for size, percent in percents.items():
            yield Source(
                f"efficientvit_{size}_{data}", "EfficientViT",
                f"attention without softmax, three levels added, {classes} classes",
                "timm and layers of PyTorch", (shape,), partial(Segmentation, size, classes),
                percent, f"{'ADE20K' if classes == 150 else 'Cityscapes'} mIoU", SAYS,
            )  # fmt: skip
