"""The page of a joined front: its picture, the combinations and all members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from paretosoc.dse.tools.choose.joined import JoinedFront, joined_table, label_of
from paretosoc.dse.tools.choose.joined_result import JoinedResult
from paretosoc.results.export.html import html_page, read_asset
from paretosoc.results.plots.style import COLOURS

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _ROW = 460, 300, 60, 40, 28, 18
_PICTURE_STYLE = """
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
        f"<style>{_PICTURE_STYLE}</style>",
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


_STYLE = "main { margin-top: 20px; } .list td { white-space: nowrap; }"


def joined_page(result: JoinedResult) -> str:
    """Return the text of the page."""
    combinations = (map(escape, map(str, row)) for row in result.combination_rows())
    heads = ("combination", "in the joined front", "in its own front", "proof")
    headings, cells = joined_table([result.joined])
    members = (
        [f"{v:.6g}" if isinstance(v, float) else escape(str(v)) for v in row[1:]] for row in cells
    )
    lines = "".join(f'<p class="soft">{escape(line)}</p>' for line in result.accuracy_sources)
    body = f"""<header><p class="kicker">Which variants?</p>
<h1>{escape(result.platform)}</h1>
<p class="soft">{len(result)} design points that none of any combination dominates: \
{result.proof}.</p>
{lines}</header>
<main class="panels">
<section>{joined_svg(result.joined)}</section>
<section>{_table(heads, combinations)}</section>
<section>{_table(headings[1:], members)}</section>
</main>
"""
    style = read_asset("campaign_report.css", "paretosoc.dse.inputs.data") + _STYLE
    return html_page(f"Joined front on {result.platform}", style, body, scripts=False)


def _table(headings: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table. The cells are HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table class="list"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
