"""The page of boards: picture, table and remarks, one file without scripts."""

from __future__ import annotations

from html import escape
from math import isfinite

from paretosoc.dse.tools.choose.boards import Board, BoardChoice, Figure, Standing
from paretosoc.dse.tools.choose.joined_page import joined_svg
from paretosoc.dse.tools.choose.table import (
    columns,
    heading_lines,
    ranked,
    remark_lines,
    three_digits,
)
from paretosoc.results.export.html import html_page, read_asset

_NAME, _CHARACTER, _ODDS, _PANEL, _GAP, _ROW, _TOP = 190, 8, 86, 210, 26, 26, 54
_PICTURE_STYLE = """
.b text { font: 13px system-ui, sans-serif; fill: var(--ink, #1b1d22); }
.b .soft { fill: var(--soft, #5b606a); font-size: 12px; }
.b .head { font-weight: 600; }
.b .line { stroke: var(--line, #dfddd7); }
.b .limit { stroke: var(--ink, #1b1d22); stroke-dasharray: 3 3; }
.b .yes { stroke: #0072b2; fill: #0072b2; }
.b .open { stroke: #b37400; fill: #b37400; }
.b .no { stroke: #8a8f99; fill: #8a8f99; }
@media (prefers-color-scheme: dark) {
  .b .yes { stroke: #7fbcff; fill: #7fbcff; } .b .open { stroke: #ffc04d; fill: #ffc04d; }
}
"""


def boards_svg(choice: BoardChoice) -> str:
    """Return the picture as SVG. In a page it takes the page's colours."""
    boards = ranked(choice)
    names = list(boards[0].figures or ()) if boards else []
    labels = [board.label + ("*" if board.assumed else "") for board in boards]
    start = max([_NAME, *(_CHARACTER * len(label) + 8 for label in labels)])
    width = start + _ODDS + len(names) * (_PANEL + _GAP)
    height = _TOP + _ROW * len(boards) + 8
    parts = [
        f'<svg class="b" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="Boards">',
        f"<style>{_PICTURE_STYLE}</style>",
        _text(0, 16, "board", "head"),
        _text(start, 16, "serves", "head"),
    ]
    for row, board in enumerate(boards):
        y = _TOP + _ROW * row + _ROW / 2
        parts += [
            f'<line class="line" x1="0" x2="{width}" y1="{y - _ROW / 2}" y2="{y - _ROW / 2}"/>',
            _text(0, y + 4, labels[row]),
            _text(start, y + 4, f"{board.standing.value}, {100 * (board.probability or 0):.0f} %"),
        ]
    for place, name in enumerate(names):
        parts += _panel(choice, boards, name, start + _ODDS + place * (_PANEL + _GAP), height)
    return "".join([*parts, "</svg>"])


def _panel(
    choice: BoardChoice, boards: list[Board], name: str, left: float, height: float
) -> list[str]:
    """Return one figure of all boards. The axis ends where boards that serve do."""
    limit = choice.limits.get(name)
    figures = [(board.figures or {})[name] for board in boards]
    near = [
        figure.most
        for board, figure in zip(boards, figures, strict=True)
        if board.standing is Standing.SERVES and isfinite(figure.most)
    ]
    most = max([*near, 1.5 * (limit or 0)], default=0) or max(
        (f.nominal for f in figures if isfinite(f.nominal)), default=1
    )
    scale = _PANEL / (1.05 * most)
    parts = [
        _text(left, 16, name, "head"),
        _text(left, 36, "0", "soft"),
        _text(left + most * scale, 36, three_digits(most), "soft", "middle"),
    ]
    if limit is not None:
        x = left + limit * scale
        parts += [
            f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="42" y2="{height}"/>',
            _text(x, 36, f"limit {limit:g}", "soft", "middle"),
        ]
    for row, (board, figure) in enumerate(zip(boards, figures, strict=True)):
        parts += _bar(board, figure, left, scale, _TOP + _ROW * row + _ROW / 2)
    return parts


def _bar(board: Board, figure: Figure, left: float, scale: float, y: float) -> list[str]:
    """Return an interval with its nominal value. An arrow says that it goes on."""
    if not isfinite(figure.least):
        return [_text(left, y + 4, "overloaded", "soft")]
    kind = {Standing.SERVES: "yes", Standing.UNKNOWN: "open"}.get(board.standing, "no")
    end = left + _PANEL
    ends = [
        left + value * scale if isfinite(value) else end + 1
        for value in (figure.least, figure.most)
    ]
    if ends[0] > end:
        return [_text(end, y + 4, f"from {three_digits(figure.least)} ▸", "soft", "end")]
    parts = [
        f'<line class="{kind}" stroke-width="3" x1="{ends[0]:.1f}" x2="{min(ends[1], end):.1f}" '
        f'y1="{y}" y2="{y}"/>'
    ]
    if ends[1] > end:
        parts.append(f'<path class="{kind}" d="M{end} {y - 5}l7 5l-7 5z"/>')
    if isfinite(figure.nominal) and left + figure.nominal * scale <= end:
        parts.append(
            f'<circle class="{kind}" cx="{left + figure.nominal * scale:.1f}" cy="{y}" r="4.5"/>'
        )
    return parts


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )


_STYLE = """
section { margin-top: 20px; } section p { max-width: 110ch; margin: 6px 0; }
.list td { white-space: nowrap; } .list tr.yes { font-weight: 600; }
"""


def boards_page(choice: BoardChoice) -> str:
    """Return the text of the page."""
    shown = columns(choice)
    titles = "".join(f'<th title="{escape(c.words)}">{escape(c.title)}</th>' for c in shown)
    rows = "".join(
        f'<tr class="{board.standing.value}">'
        + "".join(f"<td>{escape(column.text(board))}</td>" for column in shown)
        + "</tr>"
        for board in ranked(choice)
    )
    lines = "".join(f"<p>{escape(line)}</p>" for line in remark_lines(choice))
    head, *rest = heading_lines(choice)
    fronts = "".join(f"<section>{joined_svg(front)}</section>" for front in choice.fronts)
    body = f"""<header><p class="kicker">Which board?</p><h1>{escape(choice.workload)}</h1>
<p class="soft">{escape(head)}</p>{"".join(f'<p class="soft">{escape(line)}</p>' for line in rest)}
</header>
<main>
<section>{boards_svg(choice)}
<p class="soft">A dot is the figure with nominal costs, a bar nine of ten draws of the costs. An
arrow: it goes on.</p></section>
{fronts}
<section><table class="list"><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></section>
<section>{lines}</section>
</main>
"""
    style = read_asset("campaign_report.css", "paretosoc.dse.inputs.data") + _STYLE
    return html_page(choice.workload, style, body, scripts=False)
