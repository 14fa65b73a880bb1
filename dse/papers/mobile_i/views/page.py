"""The report of periodic schedules: one page that needs no network and no program but a browser."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from paretosoc.common.text import pluralize
from paretosoc.dse.papers.mobile_i.result import PeriodicResult
from paretosoc.dse.papers.mobile_i.views.pictures import (
    columns_of,
    figure_lines,
    front_picture,
    schedule_picture,
)
from paretosoc.results.export.html import html_page, html_table, read_asset


def periodic_report_html(result: PeriodicResult) -> str:
    """Return the page. Equal content gives equal text. Pictures are separate SVG files inside it,
    so that their names cannot clash."""
    title = f"{result.network} on {result.platform}"
    front = _image(front_picture(result).svg(), "Latency over engines and over energy")
    schedules = "\n".join(
        _schedule_section(
            result,
            index,
            _image(schedule_picture(schedule).svg(), f"Gantt chart of member {index}"),
        )
        for index, schedule in enumerate(result.members)
    )
    graph = result.members[0].graph
    parts = (
        f"{pluralize(result.inferences, 'inference')}, {len(graph.tasks)} tasks and "
        f"{len(graph.transfers)} transfers each; Mobile-I's schedules that no other one beats in "
        "latency, number of engines and energy, and those of other methods"
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
    entries = result.rows()
    columns = [(heading, text) for _, heading, text in columns_of(entries) if heading is not None]
    table = html_table(
        (escape(heading) for heading, _ in columns),
        ((escape(text(row)) for _, text in columns) for row in entries),
        ("" if row["member"] is None else "own" for row in entries),
    )
    return f'<div class="scroll">{table}</div>'


def _definitions(pairs: Sequence[tuple[str, str]], *, wide: bool = False) -> str:
    """Return names and values as a list. With ``wide`` the values are code."""
    before, after = ("<code>", "</code>") if wide else ("", "")
    lines = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{before}{escape(value)}{after}</dd></div>"
        for name, value in pairs
    )
    kind = ' class="wide"' if wide else ""
    return f"<dl{kind}>\n{lines}\n</dl>"
