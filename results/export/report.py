"""``report.html``: a front as one page that needs no network and no program but a browser."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from html import escape

from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.export.html import fill, html_page, read_asset
from paretosoc.results.export.report_data import ReportConfidence, ScheduleOf, report_data
from paretosoc.results.front.front import Front

PARTS = (
    "page.js",
    "scales.js",
    "keyboard.js",
    "zoom.js",
    "front_plot.js",
    "parallel_plot.js",
    "schedule_chart.js",
    "activity_chart.js",
    "member_panel.js",
    "member_table.js",
    "run_details.js",
)
"""In the order in which they run. They share one scope, with ``report.js`` at the end."""


def report_html(
    front: Front,
    schedule_of: ScheduleOf,
    costs: CostOrigins | None = None,
    deployments: Sequence[Mapping[str, str]] = (),
    confidence: ReportConfidence | None = None,
) -> str:
    """Return the page. Equal content gives equal text. The arguments are those of
    :func:`results.export.report_data.report_data`.

    The content is packed (gzip, base64): with hundreds of schedules it is most of the page, and no
    text of the user's, such as a network's name, can be taken for markup.

    Raises:
        ResultError: if the front is not sound.
    """
    data = report_data(front, schedule_of, costs, deployments, confidence=confidence)
    content = json.dumps(data, separators=(",", ":"), allow_nan=False)
    # The highest level takes half as long again for a page that is 2 % smaller.
    packed = gzip.compress(content.encode(), compresslevel=6, mtime=0)
    scripts = "\n".join(read_asset(name) for name in (*PARTS, "report.js"))
    names = " + ".join(network.name for network in front.problem.networks)
    title = f"{names} on {front.provenance.platform}"
    parts = {
        "TITLE": escape(title),
        "CONTENT": base64.b64encode(packed).decode(),
        "SCRIPT": f'(() => {{\n"use strict";\n{scripts}\n}})();',
    }
    body = fill(read_asset("report.html"), parts)
    return html_page(title, read_asset("report.css"), body, scripts=True)
