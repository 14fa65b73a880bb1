"""What mkdocs adds to the pages: the command reference, the gallery, schemas, and the changelog.

Nothing of it is in the repository twice: commands are asked for their help, pictures are drawn, and
schemas copied when the site is built.
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
    for path, picture in {**draw_pictures(), **schema_files()}.items():
        files.append(File.generated(config, path, content=picture))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Files of the repository that are not in the site are named, without a link."""
    outside = "../" * (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\[([^\]]+)\]\({re.escape(outside)}([^)]+)\)", r"\1 (`\2`)", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Roles of docstrings are shown as code."""
    return _ROLE.sub(r"<code>\1</code>", html)
