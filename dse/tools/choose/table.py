"""The table of boards and the remarks on it, for a terminal, and the page of dse choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from math import isfinite, isinf
from operator import attrgetter
from typing import TYPE_CHECKING

from paretosoc.common.tables import fitting_tables
from paretosoc.dse.tools.choose.boards import Board, BoardChoice, Figure, Standing
from paretosoc.dse.tools.choose.joined import joined_lines, label_of
from paretosoc.dse.tools.choose.joined_page import joined_svg
from paretosoc.results.export.html import html_page, html_table, read_asset
from paretosoc.results.front.choices import SURE

if TYPE_CHECKING:
    from rich.console import RenderableType


def choice_views(choice: BoardChoice, width: int) -> list[RenderableType]:
    """Return the table, in parts that fit into this width, and the lines below it."""
    shown, boards = columns(choice), ranked(choice)
    heads = [c.title.replace(" ", "\n").replace("[", "").replace("]", "") for c in shown]
    first = len(("board", *variant_names(choice), "serves"))
    tables = fitting_tables(
        [*heads[:first], *(f">{head}" for head in heads[first:])],
        [[column.text(board) for column in shown] for board in boards],
        first,
        width,
        ["bold" if board.standing is Standing.SERVES else None for board in boards],
    )
    head, *rest = heading_lines(choice)
    below = ["", *tables] if boards else []
    return [f"{choice.workload}: {head}", *rest, *below, *remark_lines(choice)]


def ranked(choice: BoardChoice) -> list[Board]:
    """Return the boards that have figures."""
    return [board for board in choice.boards if board.figures is not None]


def variant_names(choice: BoardChoice) -> list[str]:
    """Return the networks that have variants."""
    return list(dict.fromkeys(name for board in choice.boards for name in board.variants))


@dataclass(frozen=True)
class Column:
    """A column of the table: its title, what it is, in words, and its text for a board."""

    title: str
    words: str
    text: Callable[[Board], str]


def columns(choice: BoardChoice) -> list[Column]:
    """Return the columns of the boards that have figures."""
    boards = ranked(choice)
    figures = list(boards[0].figures or ()) if boards else []
    has_price = any(board.price is not None for board in boards)
    price = f"price [{choice.currency}]" if choice.currency else "price"
    has_formats = len({board.number_format for board in boards}) > 1
    return [
        Column("board", "", lambda board: board.name + "*" * bool(board.assumed)),
        *(
            Column(name, "variant, with its accuracy in percent", partial(_variant, name=name))
            for name in variant_names(choice)
        ),
        Column(
            "serves",
            "whether it keeps all limits, and in how many of the draws",
            lambda board: f"{board.standing.value} {100 * (board.probability or 0):.0f} %",
        ),
        *([Column(price, "of the board", _price)] if has_price else []),
        *([Column("format", "number format", attrgetter("number_format"))] if has_formats else []),
        *(Column(name, "5th to 95th percentile", partial(_figure, name=name)) for name in figures),
        Column("memory left [GB]", "of the board's, beside weights and activations", _memory_left),
        Column("times off [%]", "at most, in nine of ten cases", _times_off),
    ]


def _variant(board: Board, name: str) -> str:
    percent = board.accuracies.get(name)
    return board.variants[name] + ("" if percent is None else f" {percent:.1f}")


def _price(board: Board) -> str:
    return "" if board.price is None else f"{board.price:,.12g}"


def _figure(board: Board, name: str) -> str:
    figure = (board.figures or {})[name]
    least, most = three_digits(figure.least), three_digits(figure.most)
    return "overloaded" if least == "∞" else f"{least} to {most}"


def _memory_left(board: Board) -> str:
    return "-" if board.memory_left_mb is None else f"{board.memory_left_mb / 1000:.1f}"


def _times_off(board: Board) -> str:
    return "" if board.times_off_percent is None else str(board.times_off_percent[1])


def three_digits(value: float) -> str:
    """Return a figure with three significant digits, and all before the point."""
    return "∞" if isinf(value) else f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def heading_lines(choice: BoardChoice) -> list[str]:
    """Return the rates and limits, and the number format of all boards."""
    formats = {board.number_format for board in choice.boards if board.number_format}
    lines = [f"{'; '.join(choice.requirements) or 'no rate and no limit'}."]
    if len(formats) == 1:
        why = f", {choice.format_reason}" if choice.format_reason else ""
        lines.append(f"All boards compute in {next(iter(formats)).upper()}{why}.")
    elif formats:
        lines.append("Number formats differ: see the column 'format' and the remarks.")
    return lines


def remark_lines(choice: BoardChoice) -> list[str]:
    """Return the meanings of the columns, why boards fail, are open, or are left out, and what the
    joined fronts have."""
    boards = ranked(choice)
    lines = []
    if boards:
        lines.append(
            f"serves: how often some design point that was found keeps all limits, over "
            f"{choice.draws} draws of the costs from their errors. Figures: 5th to 95th percentile "
            f"of one of them, with the least energy of those that keep all in "
            f"{100 * SURE:g} % of the draws; energy per {choice.energy_per}. ∞: overloaded."
        )
        keys = ["price"] if any(board.price is not None for board in boards) else []
        keys += ["accuracy"] if any(board.accuracies for board in boards) else []
        lines.append(
            f"Sorted by serves: boards that do by {', then '.join([*keys, 'energy'])}; others by "
            "how often, then energy."
        )
    if any(board.assumed for board in boards):
        lines.append("* some of its figures are assumed, neither measured nor derived:")
    said: dict[tuple[str, str], list[str]] = {}
    for board in choice.boards:
        if remarks := list(_remarks(board)):
            variants = said.setdefault((board.name, ". ".join(remarks)), [])
            variants += filter(None, [label_of(board.variants)])
    for (name, text), variants in said.items():
        lines.append(f"{' '.join([name, *filter(None, ['; '.join(variants)])])}: {text}")
    return [*lines, *choice.accuracy_sources, *joined_lines(choice.fronts)]


def _remarks(board: Board) -> Iterator[str]:
    match board.standing:
        case Standing.UNKNOWN:
            yield _why_open(board)
        case Standing.FAILS if board.reason:
            yield f"With nominal costs: {board.reason}"
        case Standing.REFUSED | Standing.LEFT_OUT:
            yield f"{board.standing.value}: {board.reason}"
    if board.remark:
        yield board.remark
    if board.assumed:
        yield f"Assumed: {_listed(board.assumed)}"


def _why_open(board: Board) -> str:
    half, most = board.times_off_percent or (0, 0)
    text = (
        f"The costs are too uncertain for an answer: errors of times are {half} % in the median "
        f"and {most} % at the 90th percentile"
    )
    return f"{text}. With nominal costs: {board.reason}" if board.reason else text


def _listed(names: Sequence[str]) -> str:
    """Return ``times of npu; power of npu, the memory, the board``."""
    by_kind: dict[str, list[str]] = {}
    for name in names:
        kind, _, of = name.partition(" of ")
        by_kind.setdefault(kind, []).append(of)
    return "; ".join(f"{kind} of {', '.join(of)}" for kind, of in by_kind.items())


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
    table = html_table(
        (f'<span title="{escape(c.words)}">{escape(c.title)}</span>' for c in shown),
        ((escape(column.text(board)) for column in shown) for board in ranked(choice)),
        (board.standing.value for board in ranked(choice)),
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
<section>{table}</section>
<section>{lines}</section>
</main>
"""
    style = read_asset("campaign_report.css", "paretosoc.dse.inputs.data") + _STYLE
    return html_page(choice.workload, style, body, scripts=False)
