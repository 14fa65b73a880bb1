"""The table of boards and the remarks on it, for a terminal, and the page of dse choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from math import isfinite, isinf
from operator import attrgetter
from typing import TYPE_CHECKING

from paretosoc.common.tables import fitting_tables
from paretosoc.dse.tools.choose.boards import Board, BoardChoice, Standing
from paretosoc.dse.tools.choose.joined import joined_lines, label_of
from paretosoc.dse.tools.choose.joined_page import joined_svg
from paretosoc.results.export.html import html_page, html_table, read_asset
from paretosoc.results.front.choices import SURE
from paretosoc.results.plots.chart import LABEL, Axis, Chart, Charts
from paretosoc.results.plots.items import DASHES, Curve, Item, solid_marks
from paretosoc.results.plots.picture import Picture, Text, text_size
from paretosoc.results.plots.style import COLOURS, GREY, INK

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


_PANEL, _ROW, _SIZE = 230.0, 22.0, 6.5
"""Width of a panel and height of a row, in dots, and size of words, in points."""
_COLOURS = {Standing.SERVES: COLOURS[0], Standing.UNKNOWN: COLOURS[5]}
"""Of boards by their standing; grey if none of these."""


def boards_picture(choice: BoardChoice) -> Picture:
    """Return a panel for each figure, with a row for each board."""
    boards = ranked(choice)
    names = {
        -float(row): f"{board.label}{'*' * bool(board.assumed)}: {board.standing.value}, "
        f"{100 * (board.probability or 0):.0f} %"
        for row, board in enumerate(boards)
    } or {0.0: ""}
    room = max(text_size(name, LABEL)[0] for name in names.values())
    charts = []
    for figure in list(boards[0].figures or ()) if boards else ["no board has figures"]:
        charts.append(_panel(choice, boards, figure, names, _PANEL + room))
        names, room = dict.fromkeys(names, ""), 0.0
    return Charts([charts]).picture()


def _panel(
    choice: BoardChoice, boards: list[Board], name: str, rows: Mapping[float, str], width: float
) -> Chart:
    """Return one figure of all boards: an interval, with its nominal value. The axis ends where
    boards that serve do; an arrow says that an interval goes on."""
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
    end, foot = 1.05 * most, 0.5 - len(rows)
    items: list[Item] = []
    if limit is not None:
        items.append(Curve([(limit, foot), (limit, 0.5)], INK, 0.8, dash=DASHES[1]))
        items.append(Text((limit, 0.5), f"limit {limit:g}", _SIZE, INK, 0.5, 0.0))
    for row, (board, figure) in enumerate(zip(boards, figures, strict=True)):
        colour = _COLOURS.get(board.standing, GREY)
        if not isfinite(figure.least):
            items.append(Text((0.0, -row), " overloaded", _SIZE, GREY))
        elif figure.least > end:
            words = f"from {three_digits(figure.least)} on"
            items.append(Text((end, -row), words, _SIZE, GREY, 1.0))
        else:
            ends = [(figure.least, -row), (min(figure.most, end), -row)]
            items.append(Curve(ends, colour, 1.8))
            if figure.most > end:
                items.append(Text((end, -row), "▸", 12.0, colour))
            if isfinite(figure.nominal) and figure.nominal <= end:
                items.append(solid_marks([(figure.nominal, -row)], "o", colour))
    x, y = Axis(name, 0.0, end), Axis("", foot, 0.5, names=rows)
    return Chart(x, y, tuple(items), width=width, height=_ROW * len(rows))


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
<section>{boards_picture(choice).for_page(1200)}
<p class="soft">A dot is the figure with nominal costs, a bar nine of ten draws of the costs. An
arrow: it goes on.</p></section>
{fronts}
<section>{table}</section>
<section>{lines}</section>
</main>
"""
    style = read_asset("campaign_report.css", "paretosoc.dse.inputs.data") + _STYLE
    return html_page(choice.workload, style, body, scripts=False)
