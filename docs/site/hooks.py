"""What mkdocs adds to the pages: the command reference, the gallery, schemas, the changelog, and
files of ``examples`` for readers to take.

Nothing of it is in the repository twice: commands are asked for their help, pictures are drawn, and
schemas and examples copied when the site is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docs.site.commands import command_reference
from docs.site.gallery import draw_pictures, gallery_page
from docs.site.schemas import schema_files, schema_page

ROOT = Path(__file__).parents[2]

GENERATED = (
    "gallery.md",
    "reference/commands.md",
    "reference/schemas.md",
    "development/changes.md",
)
"""Pages that exist only in the site."""
_EXAMPLES = {".yaml", ".json", ".csv", ".log", ".xml"}
_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):<code>~?([^<]*)</code>")


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add what is made when the site is built."""
    from mkdocs.structure.files import File

    changes = (ROOT / "CHANGELOG.md").read_text("utf-8").replace("](docs/", "](../")
    pages = dict(
        zip(
            GENERATED,
            (gallery_page(), command_reference(), schema_page(), changes),
            strict=True,
        )
    )
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    for path, content in {**draw_pictures(), **schema_files(), **example_files()}.items():
        files.append(File.generated(config, path, content=content))
    return files


def example_files() -> dict[str, bytes]:
    """Path in the site to the bytes of each file that a page may give to its reader."""
    found = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in _EXAMPLES)
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in found}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to examples lead to their copies; other files of the repository are named, without a
    link."""
    up = "../" * page.file.src_uri.count("/")
    given = example_files()

    def link(found: re.Match[str]) -> str:
        words, path = found.groups()
        return f"[{words}]({up}{path})" if path in given else f"{words} (`{path}`)"

    return re.sub(rf"\[([^\]]+)\]\({re.escape(up)}\.\./([^)]+)\)", link, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Roles of docstrings are shown as code."""
    return _ROLE.sub(r"<code>\1</code>", html)
