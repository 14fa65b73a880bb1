"""Periodic schedules as tables, for terminals and pages, and their report: one page that needs no
network and no program but a browser."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from paretosoc.common.text import pluralize
from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.result import PeriodicResult
from paretosoc.dse.papers.mobile_i.views.pictures import front_picture, schedule_picture
from paretosoc.results.export.report import html_page, read_asset
from paretosoc.results.plots.style import picture_settings, svg_bytes

if TYPE_CHECKING:
    from rich.table import Table


Row = dict[str, Any]

COLUMNS: tuple[tuple[str, str | None, Callable[[Row], str]], ...] = (
    ("", "Member", lambda row: "" if row["member"] is None else str(row["member"])),
    ("method", "Method", lambda row: row["method"]),
    ("PEs", "PEs", lambda row: str(row["engines"])),
    ("copies", "Copies", lambda row: str(row["copies"])),
    ("latency\ns", "Latency (s)", lambda row: f"{row['latency_ps'] / PS_PER_S:.4g}"),
    ("energy\nJ", "Energy (J)", lambda row: f"{row['energy_fj'] / FJ_PER_J:.4g}"),
    ("period\nms", "Period (ms)", lambda row: f"{row['period_ps'] / PS_PER_MS:.4g}"),
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
"""Heading in a terminal, on a page (None: not there), and the text for a row of the result."""


def periodic_table(result: PeriodicResult) -> Table:
    """Return the schedules as a rich table, members first."""
    from rich.box import SIMPLE
    from rich.table import Table

    graph = result.members[0].graph
    title = (
        f"{result.network} on {result.platform}: {result.inferences:,} inferences, "
        f"{len(graph.tasks)} tasks, {len(graph.transfers)} transfers"
    )
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=0, collapse_padding=True)
    for number, (heading, _, _) in enumerate(COLUMNS):
        table.add_column(heading, justify="right" if number > 1 else "left", no_wrap=number > 0)
    for number, row in enumerate(result.rows()):
        if number == len(result.members):
            table.add_section()
        table.add_row(*(text(row) for _, _, text in COLUMNS))
    return table


def figure_lines(schedule: PeriodicSchedule, inferences: int) -> list[tuple[str, str]]:
    """Return the figures of a schedule as pairs of name and value."""
    many = pluralize(inferences, "inference")
    above = schedule.period_ps / schedule.least_period_ps - 1
    prologue = (
        f"{pluralize(schedule.prologue_periods, 'period')}, "
        f"{schedule.prologue_ps / PS_PER_MS:.6g} ms"
    )
    if schedule.prologue_periods:
        prologue += f"; any placement: at least {schedule.least_prologue_periods}"
    return [
        ("method", schedule.method),
        ("engines", str(schedule.array.engines)),
        ("copies of the graph a period", str(schedule.copies)),
        ("period", f"{schedule.period_ps / PS_PER_MS:.6g} ms, {above:.2%} above the bound"),
        ("use of the engines", f"{float(schedule.utilisation):.2%}"),
        ("prologue", prologue),
        (f"latency of {many}", f"{schedule.latency_ps(inferences) / PS_PER_S:.6g} s"),
        (f"energy of {many}", f"{schedule.energy_fj(inferences) / FJ_PER_J:.6g} J"),
        (
            "transfers kept in caches",
            f"{len(schedule.cached)} of {len(schedule.graph.transfers) * schedule.copies}",
        ),
    ]


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


def periodic_report_html(result: PeriodicResult) -> str:
    """Return the page. Equal content gives equal text. Pictures are separate SVG files inside it,
    so that their names cannot clash."""
    title = f"{result.network} on {result.platform}"
    with picture_settings():
        front = _image(svg_bytes(front_picture(result)), "Latency over engines and over energy")
        schedules = "\n".join(
            _schedule_section(
                result,
                index,
                _image(svg_bytes(schedule_picture(schedule)), f"Gantt chart of member {index}"),
            )
            for index, schedule in enumerate(result.members)
        )
    graph = result.members[0].graph
    parts = (
        f"{result.inferences:,} inferences, {len(graph.tasks)} tasks and {len(graph.transfers)} "
        f"transfers each; Mobile-I's schedules that no other one beats in latency, number of "
        "engines and energy, and those of other methods"
    )
    provenance = (
        ("command", result.command),
        ("version", result.version),
        ("operations a layer was split into, at most", str(result.parts)),
        (f"SHA-256 of {result.platform}", result.platform_sha256),
        (f"SHA-256 of {result.network}", result.network_sha256),
    )
    body = f"""<header>
<p class="kicker">Periodic schedules</p>
<h1>{escape(title)}</h1>
<p class="soft">{escape(parts)}.</p>
</header>
<main>
<section class="panel"><h2>The front</h2>
{front}
</section>
<section class="panel"><h2>All schedules</h2>
{_table(result)}
</section>
{schedules}
<section class="panel"><h2>What was run</h2>
{_definitions(provenance, wide=True)}
</section>
</main>
"""
    return html_page(title, read_asset("periodic.css"), body, scripts=False)


def _image(svg: bytes, words: str) -> str:
    data = base64.b64encode(svg).decode()
    return f'<img class="picture" alt="{escape(words)}" src="data:image/svg+xml;base64,{data}">'


def _schedule_section(result: PeriodicResult, index: int, picture: str) -> str:
    title = escape(result.title(index).capitalize())
    return f"""<section class="panel" id="member-{index}"><h2>{title}</h2>
{_definitions(figure_lines(result.members[index], result.inferences))}
{picture}
<p class="soft">A colour for each copy of the graph; colours come again where copies are many. In
a period of the prologue only those tasks run that are at least as many periods ahead.</p>
</section>"""


def _table(result: PeriodicResult) -> str:
    columns = [(heading, text) for _, heading, text in COLUMNS if heading is not None]
    head = "".join(f"<th>{escape(heading)}</th>" for heading, _ in columns)
    body = []
    for row in result.rows():
        line = "".join(f"<td>{escape(text(row))}</td>" for _, text in columns)
        body.append(f"<tr>{line}</tr>" if row["member"] is None else f'<tr class="own">{line}</tr>')
    rows = "\n".join(body)
    return f"""<div class="scroll"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def _definitions(pairs: Sequence[tuple[str, str]], *, wide: bool = False) -> str:
    """Return names and values as a list. With ``wide`` the values are code."""
    before, after = ("<code>", "</code>") if wide else ("", "")
    lines = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{before}{escape(value)}{after}</dd></div>"
        for name, value in pairs
    )
    kind = ' class="wide"' if wide else ""
    return f"<dl{kind}>\n{lines}\n</dl>"
