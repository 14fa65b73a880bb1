"""The page of a live view, from the parts of ``report.html`` and its own."""

from __future__ import annotations

from html import escape
from typing import Literal

from paretosoc.results.export.html import fill, html_page, read_asset
from paretosoc.results.export.report import PARTS

ASSETS = "paretosoc.dse.server.live.assets"


def live_page(title: str, kind: Literal["explore", "campaign"]) -> str:
    """Return the empty page, which requests its content. Names come as content or escaped."""
    scripts = [read_asset(name) for name in PARTS]
    scripts += [read_asset(name, ASSETS) for name in ("live.js", f"{kind}.js")]
    joined = "\n".join(scripts)
    parts = {
        "TITLE": escape(title),
        "MAIN": read_asset(f"{kind}.html", ASSETS).removesuffix("\n"),
        "SCRIPT": f'(() => {{\n"use strict";\n{joined}\n}})();',
    }
    style = read_asset("report.css") + read_asset("live.css", ASSETS)
    body = fill(read_asset("live.html", ASSETS), parts)
    return html_page(title, style, body, scripts=True, connects=True)
