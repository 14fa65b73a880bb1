"""The page of a joined front: its picture, the combinations and all members."""

from __future__ import annotations

from html import escape
from itertools import cycle

from paretosoc.common.text import pluralize
from paretosoc.dse.tools.choose.joined import JoinedFront, joined_table, label_of
from paretosoc.dse.tools.choose.joined_result import JoinedResult
from paretosoc.results.export.html import html_page, html_table, read_asset
from paretosoc.results.plots.chart import COLUMN, Axis, Chart
from paretosoc.results.plots.front import is_wide
from paretosoc.results.plots.items import FORMS, solid_marks
from paretosoc.results.plots.style import INK, LINE_COLOURS


def joined_svg(front: JoinedFront) -> str:
    """Return the picture for a page, over the first two objectives, with a form and a colour for
    each combination. Empty if there are no two."""
    names = list(front.members[0].objectives)[:2] if front.members else []
    if len(names) < 2:
        return ""
    points: dict[str, list[tuple[float, float]]] = {}
    for member in front.members:
        x, y = (member.objectives[name] for name in names)
        points.setdefault(label_of(member.variants), []).append((x, y))
    every = [point for own in points.values() for point in own]
    across, up = (
        Axis.over(name, values, 0.06, is_log=is_wide(values))
        for name, values in zip(names, zip(*every, strict=True), strict=True)
    )
    marks = tuple(
        solid_marks(own, form, colour, label, ink=INK)
        for (label, own), form, colour in zip(points.items(), cycle(FORMS), cycle(LINE_COLOURS))
    )
    title = f"{front.board}: front of all combinations"
    return Chart(across, up, marks, title=title, width=COLUMN).picture().for_page()


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
<p class="soft">{pluralize(len(result), "design point")} that none of any combination dominates: \
{result.proof}.</p>
{lines}</header>
<main class="panels">
<section>{joined_svg(result.joined)}</section>
<section>{html_table(heads, combinations)}</section>
<section>{html_table(map(escape, headings[1:]), members)}</section>
</main>
"""
    style = read_asset("campaign_report.css", "paretosoc.dse.inputs.data") + _STYLE
    return html_page(f"Joined front on {result.platform}", style, body, scripts=False)
