"""The table of boards and the remarks on it, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf
from typing import TYPE_CHECKING

from paretosoc.common.tables import fitting_tables
from paretosoc.dse.tools.choose.boards import Board, BoardChoice, Figure, Standing
from paretosoc.dse.tools.choose.joined import joined_lines, label_of
from paretosoc.results.front.choices import SURE

if TYPE_CHECKING:
    from rich.console import RenderableType


def choice_views(choice: BoardChoice, width: int) -> list[RenderableType]:
    """Return the table, in parts that fit into this width, and the lines below it."""
    titles = [title for title, _ in columns(choice)]
    heads = [title.replace(" ", "\n").replace("[", "").replace("]", "") for title in titles]
    first = titles.index("serves") + 1
    boards = ranked(choice)
    tables = fitting_tables(
        [*heads[:first], *(f">{head}" for head in heads[first:])],
        [cells(choice, board) for board in boards],
        first,
        width,
        ["bold" if board.standing is Standing.SERVES else None for board in boards],
    )
    head, *rest = heading_lines(choice)
    below = [*remark_lines(choice), *joined_lines(choice.fronts)]
    return [f"{choice.workload}: {head}", *rest, *(["", *tables] if boards else ()), *below]


def ranked(choice: BoardChoice) -> list[Board]:
    """Return the boards that have figures."""
    return [board for board in choice.boards if board.figures is not None]


def variant_names(choice: BoardChoice) -> list[str]:
    """Return the networks that have variants."""
    return list(dict.fromkeys(name for board in choice.boards for name in board.variants))


def columns(choice: BoardChoice) -> list[tuple[str, str]]:
    """Return the titles of the columns, and what each is, in words."""
    boards = ranked(choice)
    names = list(boards[0].figures or ()) if boards else []
    formats = {board.number_format for board in boards}
    return [
        ("board", ""),
        *((name, "variant, with its accuracy in percent") for name in variant_names(choice)),
        ("serves", "whether it keeps all limits, and in how many of the draws"),
        *([(_price(choice), "of the board")] if any(b.price is not None for b in boards) else []),
        *([("format", "number format")] if len(formats) > 1 else []),
        *((name, "5th to 95th percentile") for name in names),
        ("memory left [GB]", "of the board's, beside weights and activations"),
        ("times off [%]", "at most, in nine of ten cases"),
    ]


def cells(choice: BoardChoice, board: Board) -> list[str]:
    """Return the row of a board."""
    found = []
    for title, _ in columns(choice):
        match title:
            case "board":
                text = board.name + ("*" if board.assumed else "")
            case "serves":
                text = f"{board.standing.value} {_percent(board.probability)}"
            case "format":
                text = board.number_format
            case "memory left [GB]":
                left = board.memory_left_mb
                text = "-" if left is None else f"{left / 1000:.1f}"
            case "times off [%]":
                text = "" if board.times_off_percent is None else str(board.times_off_percent[1])
            case _ if title == _price(choice):
                text = "" if board.price is None else f"{board.price:,g}"
            case _ if title in board.variants:
                percent = board.accuracies.get(title)
                text = board.variants[title] + ("" if percent is None else f" {percent:.1f}")
            case _:
                text = interval((board.figures or {})[title])
        found.append(text)
    return found


def _price(choice: BoardChoice) -> str:
    return f"price [{choice.currency}]" if choice.currency else "price"


def three_digits(value: float) -> str:
    """Return a figure with three significant digits, and all before the point."""
    return "∞" if isinf(value) else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def interval(figure: Figure) -> str:
    """Return an interval as text."""
    least, most = three_digits(figure.least), three_digits(figure.most)
    return "overloaded" if least == "∞" else f"{least} to {most}"


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
    """Return the meanings of the columns, and why boards fail, are open, or are left out."""
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
    return [*lines, *choice.accuracy_sources]


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


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"
