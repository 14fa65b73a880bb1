"""The picture of the front of all combinations of variants: a dot for each design point."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from paretosoc.dse.tools.choose.joined import JoinedFront, label_of
from paretosoc.results.plots.style import COLOURS

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _ROW = 460, 300, 60, 40, 28, 18
_STYLE = """
.j { max-width: 100%; height: auto; }
.j text { font: 12px system-ui, sans-serif; fill: var(--soft, #5b606a); }
.j .head { font-weight: 600; fill: var(--ink, #1b1d22); }
.j path { stroke: var(--line, #dfddd7); fill: none; }
"""


def _scale(values: list[float], axis: int) -> Callable[[float], float]:
    """Return the place of a value on the axis across (0) or up (1)."""
    least, most = min(values), max(values)
    begin, end = ((_LEFT + 12, _WIDTH - 12), (_HEIGHT - _BOTTOM - 10, _TOP + 16))[axis]
    step = (end - begin) / ((most - least) or 1)
    return lambda value: begin + (value - least) * step


def joined_svg(front: JoinedFront) -> str:
    """Return the picture as SVG, over the first two objectives, with a colour for each combination.
    Empty if there are no two."""
    names = list(front.members[0].objectives)[:2] if front.members else []
    if len(names) < 2:
        return ""
    points = [[member.objectives[name] for name in names] for member in front.members]
    labels = list(dict.fromkeys(label_of(member.variants) for member in front.members))
    across, up = (_scale([point[k] for point in points], k) for k in range(2))
    colours = {label: COLOURS[k % len(COLOURS)] for k, label in enumerate(labels)}
    floor = _HEIGHT - _BOTTOM
    width = max(_WIDTH + 8, _LEFT + 24 + 8 * max(map(len, labels)))
    height = _HEIGHT + _ROW * len(labels) + 6
    title = f"{front.board}: front of all combinations"
    parts = [
        f'<svg class="j" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<text class="head" x="0" y="14">{escape(title)}</text>',
        f'<path d="M{_LEFT} {_TOP}V{floor}H{_WIDTH}"/>',
        f'<text x="{_WIDTH}" y="{floor + 32}" text-anchor="end">{escape(names[0])}</text>',
        f'<text x="{_LEFT + 6}" y="{_TOP + 4}">{escape(names[1])}</text>',
    ]
    for place in (min, max):
        x, y = (place(point[k] for point in points) for k in range(2))
        parts += [
            f'<text x="{across(x):.1f}" y="{floor + 16}" text-anchor="middle">{x:.3g}</text>',
            f'<text x="{_LEFT - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{y:.3g}</text>',
        ]
    for member, (x, y) in zip(front.members, points, strict=True):
        colour = colours[label_of(member.variants)]
        parts.append(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.5" fill="{colour}"/>')
    for row, (label, colour) in enumerate(colours.items()):
        y = _HEIGHT + _ROW * (row + 1)
        parts.append(
            f'<rect x="{_LEFT + 6}" y="{y - 8}" width="8" height="8" fill="{colour}"/>'
            f'<text x="{_LEFT + 20}" y="{y}">{escape(label)}</text>'
        )
    return "".join([*parts, "</svg>"])
