"""Pages for a browser, each one file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from itertools import repeat


def html_page(title: str, style: str, body: str, *, scripts: bool, connects: bool = False) -> str:
    """Return a page. With ``scripts``, those in the body run. The page may load no external content
    except, with ``connects``, content from its own server."""
    allowed = " script-src 'unsafe-inline';" if scripts else ""
    parts = {
        "TITLE": escape(title),
        "SCRIPTS": allowed + (" connect-src 'self';" if connects else ""),
        "STYLE": style.removesuffix("\n"),
        "BODY": body.removesuffix("\n"),
    }
    return fill(read_asset("page.html"), parts)


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Return the template with a part for every ``{{NAME}}``. The parts are inserted unchanged.

    Raises:
        KeyError: if there is no part of that name.
    """
    first, *pieces = template.split("{{")
    return first + "".join(
        parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces)
    )


def html_table(
    headings: Iterable[str], rows: Iterable[Iterable[str]], kinds: Iterable[str] = repeat("")
) -> str:
    """Return a table. Headings and cells are HTML. ``kinds``: the class of each row."""
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    lines = "".join(
        (f'<tr class="{kind}">' if kind else "<tr>")
        + "".join(f"<td>{cell}</td>" for cell in row)
        + "</tr>"
        for row, kind in zip(rows, kinds, strict=False)
    )
    return f'<table class="list"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'


def read_asset(name: str, package: str = "paretosoc.results.export.assets") -> str:
    """Return the text of a file that comes with the program."""
    return files(package).joinpath(name).read_text("utf-8")
