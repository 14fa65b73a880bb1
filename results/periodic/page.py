"""The report of periodic schedules: one page that needs no network and no program but a browser."""

from __future__ import annotations

import base64
from html import escape

from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.results.export.html import html_page, read_asset
from paretosoc.results.periodic.choice import figure_lines, schedule_title
from paretosoc.results.periodic.picture import front_picture, schedule_picture
from paretosoc.results.periodic.result import PeriodicResult
from paretosoc.results.periodic.table import periodic_rows
from paretosoc.results.plots.style import picture_settings, svg_bytes

_COLUMNS = (
    ("member", "Member"),
    ("method", "Method"),
    ("engines", "PEs"),
    ("copies", "Copies"),
    ("latency", "Latency (s)"),
    ("energy", "Energy (J)"),
    ("period", "Period (ms)"),
    ("prologue_periods", "Prologue (periods)"),
    ("least_prologue_periods", "its bound"),
    ("use", "Use of PEs"),
)


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
{_provenance(result)}
</section>
</main>
"""
    return html_page(title, read_asset("periodic.css"), body, scripts=False)


def _image(svg: bytes, words: str) -> str:
    data = base64.b64encode(svg).decode()
    return f'<img class="picture" alt="{escape(words)}" src="data:image/svg+xml;base64,{data}">'


def _schedule_section(result: PeriodicResult, index: int, picture: str) -> str:
    pairs = figure_lines(result.members[index], result.inferences)
    lines = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs
    )
    title = escape(schedule_title(result, index).capitalize())
    return f"""<section class="panel" id="member-{index}"><h2>{title}</h2>
<dl>
{lines}
</dl>
{picture}
<p class="soft">A colour for each copy of the graph; colours come again where copies are many. In
a period of the prologue only those tasks run that are at least as many periods ahead.</p>
</section>"""


def _table(result: PeriodicResult) -> str:
    head = "".join(f"<th>{escape(label)}</th>" for _, label in _COLUMNS)
    body = []
    for row in periodic_rows(result):
        cells = {key: "" if value is None else str(value) for key, value in row.items()} | {
            "latency": f"{_number(row, 'latency_ps') / PS_PER_S:.4g}",
            "energy": f"{_number(row, 'energy_fj') / FJ_PER_J:.4g}",
            "period": f"{_number(row, 'period_ps') / PS_PER_MS:.4g}",
            "use": f"{_number(row, 'utilisation'):.1%}",
        }
        if not row["prologue_periods"]:
            cells["least_prologue_periods"] = ""
        line = "".join(f"<td>{escape(cells[key])}</td>" for key, _ in _COLUMNS)
        body.append(f"<tr>{line}</tr>" if row["member"] is None else f'<tr class="own">{line}</tr>')
    rows = "\n".join(body)
    return f"""<div class="scroll"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def _number(row: dict[str, object], key: str) -> float:
    value = row[key]
    assert isinstance(value, int | float)
    return value


def _provenance(result: PeriodicResult) -> str:
    pairs = (
        ("command", result.command),
        ("version", result.version),
        ("operations a layer was split into, at most", str(result.parts)),
        (f"SHA-256 of {result.platform}", result.platform_sha256),
        (f"SHA-256 of {result.network}", result.network_sha256),
    )
    lines = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd></div>"
        for name, value in pairs
    )
    return f'<dl class="wide">\n{lines}\n</dl>'
