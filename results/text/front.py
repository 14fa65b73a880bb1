"""The front as a table for people. :mod:`results.text.front_rows` has the same as plain data."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from paretosoc.common.tables import Column, plain_table
from paretosoc.results.front.choices import Choices, choose
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.mapping_gain import describe_mapping_gain, is_at_fastest
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.text.member_diff import (
    clocks_mhz,
    clocks_used,
    describe_front,
    groups_text,
    priorities_text,
)
from paretosoc.results.text.rates import (
    OVERLOADED,
    GuaranteeFigures,
    adds_energy_per_image,
    describe_batches,
    energy_per_image_mj,
    guarantee_columns,
    slowest_network,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

GuaranteeFunction = Callable[[Problem, Sequence[DesignPoint]], list[GuaranteeFigures]]
_MAX_MORE_DIGITS = 9
"""Picoseconds and femtojoules are the ninth and twelfth digit after the point."""
_GAP = 2
"""Characters between two columns."""


def front_table(
    front: Front,
    *,
    width: int = 80,
    resolution: float | None = None,
    guarantee: GuaranteeFunction | None = None,
) -> RenderableType:
    """Return the choices of a front as a rich table that fits ``width`` characters, with a caption
    as text.

    Clocks that never change, and columns that do not fit, are named below instead.

    Args:
        resolution: see :func:`results.front.choices.choose`. 0: all members.
        guarantee: gives the figures of members of a problem with a tolerance.
    """
    from rich.console import Group
    from rich.text import Text

    if not front.members:
        return Text("The front is empty: no design point met all constraints.")
    choices = choose(front, resolution)
    shown = choices.members
    columns, notes = front_columns(front, choices, guarantee)
    every, hidden = columns, list[Column]()
    while _width(columns) > width and any(column.loss for column in columns):
        least = min((column for column in columns if column.loss), key=_loss)
        columns = [column for column in columns if column is not least]
        hidden.append(least)
    # The last to go was perhaps a wide one, and has left room for some that went before.
    for column in reversed(hidden[:-1]):
        wider = [other for other in every if other in columns or other is column]
        if _width(wider) <= width:
            columns = wider
    table = _render(columns, shown, frozenset(mark_members(front)))
    names = [
        f"{column.name} (always {column.cells[0]})" if _is_constant(column) else column.name
        for column in hidden
        if column not in columns
    ]
    if names:
        notes.append(f"Not shown for want of room: {', '.join(names)}.")
    if len(shown) < len(front.members):
        notes.insert(
            0,
            f"{len(shown)} choices of {len(front.members)} members: every member is within "
            f"{100 * choices.resolution:g} % of one of them in every objective.",
        )
    if front.provenance.precision:
        formats = front.provenance.precision.upper()
        several = "Number formats that groups choose among"
        what = several if front.problem.has_formats else "Number format of all costs"
        notes.append(f"{what}: {formats.replace(',', ', ')}.")
    notes += _baseline_texts(front)
    gain = describe_mapping_gain(front)
    lead = []
    if gain is not None and gain.comes_first:
        lead = [gain.text]
    elif gain is not None:
        notes.append(gain.text)
    lines = [_wrapped(text, width) for text in (*front_sentences(front), *notes)]
    before, after = (
        [Text(line, no_wrap=True) for line in texts]
        for texts in ([_wrapped(text, width) + "\n" for text in lead], lines)
    )
    return Group(*before, table, *after)


def front_sentences(front: Front) -> list[str]:
    """Return sentences about a front's batches, measure, objectives and marked members."""
    texts = (*describe_batches(front.problem), *describe_front(front))
    return [f"{text[0].upper()}{text[1:]}." for text in texts]


def _is_constant(column: Column) -> bool:
    return len(column.cells) > 1 and len(set(column.cells)) == 1


def _loss(column: Column) -> tuple[bool, int]:
    """Return the order in which columns are dropped. One without differences goes first, since a
    note has room for its value."""
    return not _is_constant(column), column.loss


def _baseline_texts(front: Front) -> list[str]:
    """Return ``GPU only 13.65 ms, 394.9 mJ`` for each baseline, with the limits that it breaks, or
    that it is overloaded, without figures: first those at the fastest clocks. Of a baseline with a
    front, its first point and the number of others are told."""
    kinds: dict[str, list[str]] = {}
    counts = Counter(point.name for point in front.baselines)
    names = list(dict.fromkeys(point.name for point in front.baselines))
    first = {point.name: point for point in reversed(front.baselines)}
    for point in (first[name] for name in names):
        fastest = counts[point.name] == 1 and is_at_fastest(front.problem, point)
        kind = "Other methods, at the fastest clocks" if fastest else "Other methods"
        figures = ", ".join(
            objective.text(value)
            for objective, value in zip(
                front.problem.objectives, point.member.objectives, strict=True
            )
        )
        least = slowest_network(front.problem, point.member)
        if least is not None:
            figures += f", {least.name} at {least.share} % of its rate alone"
        broken = f" (breaks {', '.join(point.breaks)})" if point.breaks else ""
        others = f" and {counts[point.name] - 1} more" if counts[point.name] > 1 else ""
        text = OVERLOADED if point.member.is_overloaded else f"{figures}{others}{broken}"
        kinds.setdefault(kind, []).append(f"{point.label} {text}")
    return [f"{kind}: {'; '.join(texts)}." for kind, texts in sorted(kinds.items(), reverse=True)]


def _wrapped(text: str, width: int) -> str:
    """Return lines of at most ``width`` characters. A number stays with its unit."""
    return textwrap.fill(re.sub(r"(\d) (%|MHz|ms|mJ)", "\\1\N{NO-BREAK SPACE}\\2", text), width)


def front_columns(
    front: Front, choices: Choices, guarantee: GuaranteeFunction | None = None
) -> tuple[list[Column], list[str]]:
    """Return the columns of all figures of the choices, and notes on what is the same in all."""
    problem, shown = front.problem, choices.members
    members = [front.members[i] for i in shown]
    marks = mark_members(front)
    columns: list[Column] = []

    def add(
        name: str, header: tuple[str, str], cells: Iterable[str], loss: int = 0, right: bool = True
    ) -> None:
        columns.append(Column(name, header, tuple(cells), loss, right))

    add("member", ("", "#"), map(str, shown))
    for objective, cells in zip(
        problem.objectives, _objective_cells(problem, members), strict=True
    ):
        label = objective.label(problem)
        add(label, (label, objective.heading(problem)), cells)
    if front.robust is not None:
        measure = front.robust.measure
        for k, objective in enumerate(problem.objectives):
            ranked = objective.format([member.ranked[k] for member in members])
            name = f"{measure} of {objective.label(problem)}"
            add(name, (measure, objective.heading(problem)), ranked)
    if guarantee is not None and problem.tolerance_permille is not None:
        figures = guarantee(problem, [member.design for member in members])
        columns += guarantee_columns(problem, members, figures)
    add("mark", ("", ""), (", ".join(marks.get(i, ())) for i in shown), right=False)
    if len(shown) < len(front.members):
        behind = (str(choices.counts[i]) for i in shown)
        add("members that a choice stands for", ("stands", "for"), behind, 9_000)
    if adds_energy_per_image(problem):
        texts = (format_number(energy_per_image_mj(problem, member)) for member in members)
        add("energy per image", ("per image", "mJ"), texts, 2_500)
    slowest = [least for m in members if (least := slowest_network(problem, m)) is not None]
    if slowest:
        texts = (f"{least.name} {least.rate} images/s" for least in slowest)
        add("slowest network", ("slowest", "network"), texts, 3_000, right=False)
        if all(objective.kind is not ObjectiveKind.FAIRNESS for objective in problem.objectives):
            shares = (least.share for least in slowest)
            add("its share of its rate alone", ("% of its", "rate alone"), shares, 2_000)
    for n, network in enumerate(problem.networks if problem.has_rates else ()):
        response = Objective(ObjectiveKind.RESPONSE, n)
        if response not in problem.objectives:
            longest = response.format([member.latencies_ps[n] for member in members])
            name = f"response of {network.name}"
            add(name, (network.name, "resp. ms"), longest, 2_000 - n)
    if problem.searched_order is SearchedOrder.NETWORKS:
        texts = (priorities_text(problem, member) for member in members)
        add("priorities", ("", "priorities"), texts, 1_500, right=False)
    used = (groups_text(problem, member) for member in members)
    add("units", ("groups on", "units"), used, 1_000, right=False)
    constant: list[str] = []
    for domain, every in zip(problem.domains, clocks_used(front), strict=True):
        if len(every) == 1:
            (only,) = every
            constant.append(
                f"{domain.name} off" if only is None else f"{domain.name} at {only:.0f} MHz"
            )
            continue
        clocks = [clocks_mhz(problem, member)[domain.name] for member in members]
        texts = ("off" if clock is None else f"{clock:.0f}" for clock in clocks)
        add(f"{domain.name} clock", (domain.name, "MHz"), texts, 10 + len(every))
    counts = (str(problem.transition_count(member.design)) for member in members)
    add("transitions", ("transi-", "tions"), counts, 1)
    notes = [f"Throughout: {', '.join(constant)}."] if constant else []
    if problem.has_priorities and problem.searched_order is None:
        notes.append(f"Priorities: {priorities_text(problem, members[0])}.")
    return columns, notes


def _objective_cells(problem: Problem, members: list[Member]) -> list[tuple[str, ...]]:
    """Return, per objective, a cell for each member, with enough digits that no two rows look the
    same. Members differ in some objective."""
    columns = list(zip(*(member.objectives for member in members), strict=True))
    cells: list[tuple[str, ...]] = []
    for more in range(_MAX_MORE_DIGITS):
        cells = [
            tuple(objective.format(column, more))
            for objective, column in zip(problem.objectives, columns, strict=True)
        ]
        if len(set(zip(*cells, strict=True))) == len(members):
            break
    return cells


def _render(columns: list[Column], shown: list[int], marked: frozenset[int]) -> Table:
    headings = (">" * column.right + "\n".join(column.header) for column in columns)
    table = plain_table(*headings, no_wrap=True, collapse_padding=True)
    for row, member in enumerate(shown):
        table.add_row(
            *(column.cells[row] for column in columns), style="bold" if member in marked else None
        )
    return table


def _width(columns: list[Column]) -> int:
    """Return the width of the table, with the space between columns."""
    return sum(column.width for column in columns) + _GAP * (len(columns) - 1)
