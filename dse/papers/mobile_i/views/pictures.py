"""Pictures and tables of periodic schedules, for terminals and pages: all of a result, or one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from paretosoc.common.text import pluralize
from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.result import PeriodicResult
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import FORMS, Curve, Item, bar, solid_marks
from paretosoc.results.plots.picture import Picture, Text
from paretosoc.results.plots.style import COLOURS, INK, LIGHT, lighter

if TYPE_CHECKING:
    from rich.table import Table


_MAX_STAGES = 3
"""So many stages of the prologue are drawn in front of a full period."""
_MAX_ROWS_LABELLED = 16


def front_picture(result: PeriodicResult) -> Picture:
    """Draw the latency of all inferences over the number of engines, and over energy, for all
    methods."""
    methods: dict[str, list[PeriodicSchedule]] = {}
    for schedule in (*result.members, *result.others):
        methods.setdefault(schedule.method, []).append(schedule)
    lines = [(method, schedules, result.inferences) for method, schedules in methods.items()]
    label = f"Latency of {pluralize(result.inferences, 'inference')} (s)"
    return _fronts(lines, label, members=1)


def fronts_picture(results: Sequence[tuple[str, PeriodicResult]]) -> Picture:
    """Draw the members of several results under their names, as :func:`front_picture` does. A
    latency is that of the inferences of its result."""
    counts = {result.inferences for _, result in results}
    of = f" of {pluralize(counts.pop(), 'inference')}" if len(counts) == 1 else " of all inferences"
    lines = [(name, list(result.members), result.inferences) for name, result in results]
    return _fronts(lines, f"Latency{of} (s)", members=len(lines))


def _fronts(
    lines: Sequence[tuple[str, list[PeriodicSchedule], int]], label: str, *, members: int
) -> Picture:
    """Draw the fronts. Engines are written beside the points of the first ``members`` lines."""
    left, right, beside = list[Item](), list[Item](), list[Item]()
    every: list[tuple[int, float, float]] = []
    for number, (name, schedules, inferences) in enumerate(lines):
        colour, form = COLOURS[number % len(COLOURS)], FORMS[number % len(FORMS)]
        points: list[tuple[int, float, float]] = []
        for schedule in sorted(schedules, key=lambda schedule: schedule.array.engines):
            count, seconds = schedule.array.engines, schedule.latency_ps(inferences) / PS_PER_S
            points.append((count, schedule.energy_fj(inferences) / FJ_PER_J, seconds))
            if number < members:
                # The words end left of the mark.
                words = f"{count}\N{NO-BREAK SPACE}"
                beside.append(Text(points[-1][1:], words, 6.0, INK, 1.0, -0.3))
        for items, k in ((left, 0), (right, 1)):
            places = [(point[k], point[2]) for point in points]
            items += [Curve(places, colour, 0.8), solid_marks(places, form, colour, name)]
        every += points
    counts, energies, latencies = zip(*every, strict=True)
    names = {float(count): str(count) for count in sorted(set(counts))}
    engines = Axis.over("Processing engines", counts, 0.05, is_log=True)
    energy = Axis.over("Energy (J); engines beside the members", energies, 0.12)
    latency = Axis(label, 0.0, 1.06 * max(latencies))
    first = Chart(replace(engines, names=names), latency, tuple(left), width=PAGE / 2)
    second = replace(first, x=energy, y=replace(latency, title=""), items=(*right, *beside))
    return Charts([[first, second]]).picture()


def schedule_picture(schedule: PeriodicSchedule) -> Picture:
    """Draw the last stages of the prologue and one full period, with a colour for each copy of the
    graph.

    In the period that comes s periods before the first full one, only tasks with r >= s run.
    """
    rows, period = schedule.array.engines, schedule.period_ps / PS_PER_MS
    stages = min(_MAX_STAGES, schedule.prologue_periods)
    step = max(1, rows // _MAX_ROWS_LABELLED)
    names = {-float(row): f"PE {row}" for row in range(0, rows, step)}
    x = Axis("Time (ms)", 0.0, (stages + 1) * period)
    y = Axis("", 0.5 - rows, 0.5, names=names)
    words = f"{schedule.graph.name}, {schedule.method}: {schedule.copies} copies a period"
    if stages:
        words += (
            f"; the last {stages} of {schedule.prologue_periods} periods of the prologue shaded"
        )
    items: list[Item] = [bar(0.0, y.low, stages * period, y.high, lighter(LIGHT, 0.5))]
    for column in range(stages + 1):
        items += _bars(schedule, column * period, stages - column)
    for column in range(stages + 1):
        items.append(Curve([(column * period, y.low), (column * period, y.high)], INK, 0.6))
    height = min(600.0, max(11.0 * rows, 160.0))
    return Chart(x, y, tuple(items), title=words, width=PAGE, height=height).picture()


def _bars(schedule: PeriodicSchedule, begin: float, stage: int) -> list[Item]:
    """Return the tasks of one period: in one of the prologue, those that are far enough ahead."""
    items: list[Item] = []
    tasks = schedule.graph.tasks
    for number, (engine, start_ps, ahead) in enumerate(
        zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
    ):
        if ahead >= stage:
            start = begin + start_ps / PS_PER_MS
            end = start + tasks[number % len(tasks)].time_ps / PS_PER_MS
            colour = COLOURS[number // len(tasks) % len(COLOURS)]
            box = (start, -engine - 0.4, end, 0.4 - engine)
            items.append(bar(*box, colour, ink="#FFFFFF", width=0.3))
    return items


Row = dict[str, Any]

Column = tuple[str, str | None, Callable[[Row], str]]
_BEFORE = ("", "m", "u", "n", "p")


def in_unit(unit: str, whole: int, least: int, start: int = 0) -> tuple[str, float]:
    """Return the largest unit in which no figure is below 0.01, and its size.

    Args:
        unit: the symbol of the largest unit. Others are a thousandth of it, and so on.
        whole: its size in the unit of the figures.
        least: the smallest figure.
        start: 1 begins with a thousandth of it.
    """
    scales = [(before + unit, whole / 1000**step) for step, before in enumerate(_BEFORE)][start:]
    return next((entry for entry in scales if 100 * least >= entry[1]), scales[-1])


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns of schedules: heading in a terminal, on a page (None: not there), and the
    text for a row of the result."""

    def scaled(name: str, key: str, unit: str, whole: int, start: int = 0) -> Column:
        symbol, size = in_unit(unit, whole, min(row[key] for row in rows), start)
        return (
            f"{name}\n{symbol}",
            f"{name.capitalize()} ({symbol})",
            lambda row: f"{row[key] / size:.4g}",
        )

    return (
        ("", "Member", lambda row: "" if row["member"] is None else str(row["member"])),
        ("method", "Method", lambda row: row["method"]),
        ("PEs", "PEs", lambda row: str(row["engines"])),
        ("copies", "Copies", lambda row: str(row["copies"])),
        scaled("latency", "latency_ps", "s", PS_PER_S),
        scaled("energy", "energy_fj", "J", FJ_PER_J),
        scaled("period", "period_ps", "s", PS_PER_S, start=1),
        ("over\nbound", None, lambda row: f"{row['period_ps'] / row['least_period_ps'] - 1:.1%}"),
        ("prologue\nperiods", "Prologue (periods)", lambda row: str(row["prologue_periods"])),
        (
            "\nbound",
            "its bound",
            lambda row: str(row["least_prologue_periods"]) if row["prologue_periods"] else "",
        ),
        ("use of\nPEs", "Use of PEs", lambda row: f"{row['utilisation']:.1%}"),
        ("in\ncache", None, lambda row: str(row["cached_transfers"])),
    )


def periodic_table(result: PeriodicResult) -> Table:
    """Return the schedules as a rich table, members first."""
    from rich.box import SIMPLE
    from rich.table import Table

    graph = result.members[0].graph
    title = (
        f"{result.network} on {result.platform}: {pluralize(result.inferences, 'inference')}, "
        f"{len(graph.tasks)} tasks, {len(graph.transfers)} transfers"
    )
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=0, collapse_padding=True)
    rows = result.rows()
    columns = columns_of(rows)
    for number, (heading, _, _) in enumerate(columns):
        table.add_column(heading, justify="right" if number > 1 else "left", no_wrap=number > 0)
    for number, row in enumerate(rows):
        if number == len(result.members):
            table.add_section()
        table.add_row(*(text(row) for _, _, text in columns))
    return table


def figure_lines(schedule: PeriodicSchedule, inferences: int) -> list[tuple[str, str]]:
    """Return the figures of a schedule as pairs of name and value."""
    many = pluralize(inferences, "inference")
    above = schedule.period_ps / schedule.least_period_ps - 1
    latency, energy = schedule.latency_ps(inferences), schedule.energy_fj(inferences)
    short = partial(_figure, "s", PS_PER_S, start=1)
    prologue = f"{pluralize(schedule.prologue_periods, 'period')}, {short(schedule.prologue_ps)}"
    if schedule.prologue_periods:
        prologue += f"; any placement: at least {schedule.least_prologue_periods}"
    return [
        ("method", schedule.method),
        ("engines", str(schedule.array.engines)),
        ("copies of the graph a period", str(schedule.copies)),
        ("period", f"{short(schedule.period_ps)}, {above:.2%} above the bound"),
        ("use of the engines", f"{float(schedule.utilisation):.2%}"),
        ("prologue", prologue),
        (f"latency of {many}", _figure("s", PS_PER_S, latency)),
        (f"energy of {many}", _figure("J", FJ_PER_J, energy)),
        (
            "transfers kept in caches",
            f"{len(schedule.cached)} of {len(schedule.graph.transfers) * schedule.copies}",
        ),
    ]


def _figure(unit: str, whole: int, value: int, start: int = 0) -> str:
    symbol, size = in_unit(unit, whole, value or whole, start)
    return f"{value / size:.6g} {symbol}"


def engine_table(schedule: PeriodicSchedule) -> Table:
    """Return a table of every engine's tasks in a period, as copy:task, the longest first."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, padding=0, collapse_padding=True)
    for heading in ("PE", "busy", "tasks", "periods\nahead"):
        table.add_column(heading, justify="right")
    table.add_column("longest tasks (copy: name)", overflow="ellipsis", no_wrap=True)
    tasks, size = schedule.graph.tasks, len(schedule.graph.tasks)
    on: list[list[int]] = [[] for _ in range(schedule.array.engines)]
    for number, engine in enumerate(schedule.engine):
        on[engine].append(number)
    for engine, numbers in enumerate(on):
        numbers.sort(key=lambda n: (-tasks[n % size].time_ps, n))
        busy = sum(tasks[n % size].time_ps for n in numbers)
        ahead = sorted({schedule.ahead[n] for n in numbers})
        table.add_row(
            str(engine),
            f"{busy / schedule.period_ps:.1%}",
            str(len(numbers)),
            "-".join(map(str, ahead if len(ahead) < 2 else (ahead[0], ahead[-1]))),
            ", ".join(f"{n // size}: {tasks[n % size].name}" for n in numbers[:4]),
        )
    return table
