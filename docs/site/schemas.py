"""JSON Schemas of all files that the program reads and writes, by their stable ids."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("results/io/schemas", "dse/inputs/data", "platforms/data")


def schema_files() -> dict[str, bytes]:
    """Path in the site to the schema."""
    return {
        f"schemas/{path.name}": path.read_bytes()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).glob("*.schema.json"))
    }


def schema_page() -> str:
    """A table of all of them."""
    rows = []
    for path, text in sorted(schema_files().items()):
        schema = json.loads(text)
        rows.append(f"| [{Path(path).name}](../{path}) | `{schema['$id']}` | {schema['title']} |")
    return "\n".join(
        [
            "# JSON Schemas",
            "",
            "Every file is checked against its schema (draft 2020-12) when it is read or written.",
            "An id ends with the version of the format; one that breaks old files is new.",
            "",
            "| schema | id | of |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )
