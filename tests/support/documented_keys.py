"""What every key of a result's files rests on, by the table of docs/concepts/certificate.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@cache
def documented() -> dict[str, dict[str, str]]:
    """Per file: key -> what it rests on. Lists are ``[]``, keys that are names ``*``."""
    text = (ROOT / "docs/concepts/certificate.md").read_text()
    section = text.partition("### Key by key")[2].partition("\n#")[0]
    table: dict[str, dict[str, str]] = {}
    files: list[str] = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 3 or cells[0] == "file":
            continue
        files = re.findall("`(.*?)`", cells[0]) or files
        for key in re.findall("`(.*?)`", cells[1]):
            for file in files:
                table.setdefault(file, {})[key] = cells[2]
    front = table["front.json"]
    for key in [key for key in front if key.startswith("certificate.")]:
        front[key.replace("certificate.", "epsilon.")] = front[key]
    return table


def rests_on(file: str, path: str) -> str | None:
    """The row of the nearest key, the path itself or one that it lies below."""
    keys = [key for key in documented()[file] if re.match(rf"{re.escape(key)}(\.|\[|$)", path)]
    return documented()[file][max(keys, key=len)] if keys else None


def keys_of_schema(name: str) -> set[str]:
    """Paths of everything that a file may have."""
    document = json.loads((ROOT / "results" / "io" / "schemas" / f"{name}.schema.json").read_text())
    definitions = document.get("$defs", {})

    def walk(schema: Any, path: str, depth: int) -> Iterator[str]:
        if path:
            yield path
        if depth > 8:
            # Tables of any depth.
            return
        if "$ref" in schema:
            yield from walk(definitions[schema["$ref"].split("/")[-1]], path, depth + 1)
        for choice in schema.get("anyOf", ()):
            yield from walk(choice, path, depth + 1)
        for key, part in schema.get("properties", {}).items():
            yield from walk(part, f"{path}.{key}".lstrip("."), depth + 1)
        if isinstance(schema.get("additionalProperties"), dict):
            yield from walk(schema["additionalProperties"], f"{path}.*", depth + 1)
        if "items" in schema:
            yield from walk(schema["items"], f"{path}[]", depth + 1)

    return set(walk(document, "", 0))
