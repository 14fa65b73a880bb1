"""The page of boards: picture, table and remarks, one file without scripts."""

from __future__ import annotations

from html import escape

from paretosoc.dse.tools.choose.boards import BoardChoice
from paretosoc.dse.tools.choose.joined import joined_lines
from paretosoc.dse.tools.choose.joined_picture import joined_svg
from paretosoc.dse.tools.choose.picture import boards_svg
from paretosoc.dse.tools.choose.table import (
    cells,
    columns,
    heading_lines,
    ranked,
    remark_lines,
)
from paretosoc.results.export.html import html_page, read_asset

_STYLE = """
section { margin-top: 20px; } section p { max-width: 110ch; margin: 6px 0; }
.list td { white-space: nowrap; } .list tr.yes { font-weight: 600; }
"""


def boards_page(choice: BoardChoice) -> str:
    """Return the text of the page."""
    titles = "".join(
        f'<th title="{escape(words)}">{escape(title)}</th>' for title, words in columns(choice)
    )
    rows = "".join(
        f'<tr class="{board.standing.value}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells(choice, board))
        + "</tr>"
        for board in ranked(choice)
    )
    below = [*remark_lines(choice), *joined_lines(choice.fronts)]
    lines = "".join(f"<p>{escape(line)}</p>" for line in below)
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
