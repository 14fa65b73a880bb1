"""The gallery: pictures drawn when the site is built, with the commands that make them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import paretosoc as dse

EVALUATIONS = 5_000
XAVIER = "jetson-agx-xavier"
_EXPLORE = "dse explore vgg19 resnet50 -p jetson-agx-xavier --groups 12"


@dataclass(frozen=True)
class Picture:
    """A figure of a search: ``what`` is its kind, for ``dse plot``."""

    name: str
    caption: str
    front: Callable[[], dse.Front]
    what: str
    lines: tuple[str, ...]
    members: tuple[str, ...] = ()

    def draw(self) -> bytes:
        """As SVG."""
        return dse.Front.drawn(self.what, [("", self.front())], self.members).svg()


@cache
def _pair() -> dse.Front:
    return dse.explore(
        ["vgg19", "resnet50"],
        XAVIER,
        groups=12,
        max_transitions=1,
        max_evaluations=EVALUATIONS,
    )


@cache
def _three_objectives() -> dse.Front:
    return dse.explore(
        ["vgg19", "resnet50"],
        XAVIER,
        groups=12,
        objectives=["latency", "throughput", "energy"],
        max_evaluations=EVALUATIONS,
    )


@cache
def _one_phone() -> dse.Front:
    return dse.explore(
        ["mobilenet_v2", "resnet50"], "snapdragon-8-gen-3", groups=8, max_evaluations=EVALUATIONS
    )


@cache
def _camera() -> dse.Front:
    return dse.explore(
        ["googlenet", "squeezenet*2"], XAVIER, frames_per_second=60, max_evaluations=EVALUATIONS
    )


_PAIR = f"{_EXPLORE} --max-transitions 1 -o runs/pair"
PICTURES = (
    Picture(
        "front",
        "A front: marks are choices, shapes the units in use, colours a clock, crosses other "
        "methods; the dashed line is one unit per network at free clocks.",
        _pair,
        "front",
        (_PAIR, "dse plot front runs/pair -o front.svg"),
    ),
    Picture(
        "schedules",
        "Two schedules: contention is hatched, arrows are changes of unit.",
        _pair,
        "gantt",
        (_PAIR, "dse plot gantt runs/pair --member fastest --member knee -o schedules.svg"),
        ("fastest", "knee"),
    ),
    Picture(
        "energy",
        "Where the energy goes.",
        _pair,
        "energy",
        (_PAIR, "dse plot energy runs/pair -o energy.svg"),
    ),
    Picture(
        "roofline",
        "Whether computing or the memory limits a group, in time and in energy.",
        _pair,
        "roofline",
        (_PAIR, "dse plot roofline runs/pair -o roofline.svg"),
    ),
    Picture(
        "convergence",
        "How fast the search got there.",
        _pair,
        "convergence",
        (_PAIR, "dse plot convergence runs/pair -o convergence.svg"),
    ),
    Picture(
        "three",
        "Three objectives: the third is the colour.",
        _three_objectives,
        "front",
        (
            f"{_EXPLORE} --objective latency --objective throughput --objective energy"
            " -o runs/three",
            "dse plot front runs/three -o three.svg",
        ),
    ),
    Picture(
        "phone",
        "A phone: CPU clusters, GPU and NPU of a Snapdragon 8 Gen 3.",
        _one_phone,
        "front",
        (
            "dse explore mobilenet_v2 resnet50 -p snapdragon-8-gen-3 --groups 8 -o runs/phone",
            "dse plot front runs/phone -o phone.svg",
        ),
    ),
    Picture(
        "camera",
        "Three networks at 60 frames per second: energy counts over the period.",
        _camera,
        "front",
        (
            "dse explore googlenet 'squeezenet*2' -p jetson-agx-xavier --fps 60 -o runs/camera",
            "dse plot front runs/camera -o camera.svg",
        ),
    ),
)


def draw_pictures() -> dict[str, bytes]:
    """Path in the site to the picture."""
    return {f"images/gallery/{picture.name}.svg": picture.draw() for picture in PICTURES}


def _wrapped(command: str) -> list[str]:
    """A command as lines of code that no page cuts; an option stays with its value."""
    kept = "\N{NO-BREAK SPACE}"
    text = re.sub(" (?!-)", kept, command)
    lines = textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False)
    lines = [f"    {' ' * 4 * (k > 0)}{line}" for k, line in enumerate(lines)]
    return " \\\n".join(lines).replace(kept, " ").splitlines()


def gallery_page() -> str:
    """The page, with every picture and the commands that make it."""
    parts = [
        "# Gallery",
        "",
        "Drawn by the program when this site was built. The commands search longer than the site",
        f"does ({EVALUATIONS:,} design points).",
        "",
    ]
    for picture in PICTURES:
        lines = [text for line in picture.lines for text in _wrapped(line)]
        title, _, more = picture.caption.partition(": ")
        parts += [
            f"## {title.rstrip('.')}",
            "",
            *([f"{more[0].upper()}{more[1:]}", ""] if more else []),
            f"![{picture.caption}](images/gallery/{picture.name}.svg)",
            "",
            *lines,
            "",
        ]
    return "\n".join(parts)
