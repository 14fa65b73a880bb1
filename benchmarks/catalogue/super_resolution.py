"""Networks that enlarge an image four times, of PyTorch's layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.catalogue.source import Source, with_forward


def sources() -> Iterator[Source]:
    """Return all of them."""
    import torch
    from torch.nn import Conv2d, Hardtanh, PixelShuffle, PReLU, Sequential
    from torch.nn.functional import interpolate

    def plain(width: int, layers: int, activation: Callable[[], Any], last: Sequence[Any]) -> Any:
        inner = (part for _ in range(layers) for part in (conv(width, width), activation()))
        return Sequential(conv(3, width), activation(), *inner, conv(width, 48), *last)

    def conv(before: int, after: int) -> Any:
        return Conv2d(before, after, 3, padding=1)

    class Dense(torch.nn.Module):  # type: ignore[misc]
        """Five convolutions, each of which reads all before it."""

        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList(
                conv(64 + 32 * k, 32 if k < 4 else 64) for k in range(5)
            )

        def forward(self, x: Any) -> Any:
            seen = [x]
            for part in self.parts[:4]:
                seen.append(leaky(part(torch.cat(seen, 1))))
            return 0.2 * self.parts[4](torch.cat(seen, 1)) + x

    class Esrgan(torch.nn.Module):  # type: ignore[misc]
        """23 residual blocks of three dense ones. Repetition enlarges twice."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = conv(3, 64), conv(64, 3)
            self.blocks = torch.nn.ModuleList(
                Sequential(*(Dense() for _ in "abc")) for _ in range(23)
            )
            self.joins = torch.nn.ModuleList(conv(64, 64) for _ in range(4))

        def forward(self, x: Any) -> Any:
            x = before = self.first(x)
            for block in self.blocks:
                x = 0.2 * block(x) + x
            x = self.joins[0](x) + before
            for join in self.joins[1:3]:
                x = leaky(join(interpolate(x, scale_factor=2)))
            return self.last(leaky(self.joins[3](x)))

    def leaky(x: Any) -> Any:
        return torch.nn.functional.leaky_relu(x, 0.2)

    def general() -> Any:
        model = plain(64, 32, lambda: PReLU(64), [PixelShuffle(4)])
        return with_forward(model, lambda forward, x: forward(x) + interpolate(x, scale_factor=4))

    def quick(width: int, layers: int) -> Any:
        return plain(width, layers, lambda: Hardtanh(0, 1), [PixelShuffle(4), Hardtanh(0, 1)])

    for name, family, text, build in (
        ("esrgan", "ESRGAN", "ESRGAN and Real-ESRGAN x4plus: dense residual blocks", Esrgan),
        ("realesr_general", "ESRGAN", "Real-ESRGAN's general x4v3: 34 convolutions", general),
        ("quicksrnet_small", "QuickSRNet", "four convolutions", partial(quick, 32, 2)),
        ("quicksrnet_medium", "QuickSRNet", "seven convolutions", partial(quick, 32, 5)),
        ("quicksrnet_large", "QuickSRNet", "13 convolutions", partial(quick, 64, 11)),
    ):  # fmt: skip
        yield Source(name, family, text, "layers of PyTorch", ((1, 3, 128, 128),), build)
