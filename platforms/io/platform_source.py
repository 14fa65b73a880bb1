"""A platform as a file to edit: everything that it extends merged in, or one to start from."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from paretosoc.platforms.io.exact_json import json_numbers
from paretosoc.platforms.io.platform_file import platform_document

_LINE = 100
"""Values without sources that fit are written on one line of so many characters."""


def platform_source(name_or_path: str) -> str:
    """Return the JSON text of a platform, complete and readable by :func:`load_platform`.

    Raises:
        PlatformError: as :func:`load_platform`, apart from faults that the schema finds.
    """
    document, _ = platform_document(name_or_path)
    return _text(document, 0) + "\n"


def new_platform_source() -> str:
    """Return the JSON text of a board with no known figures: every figure is assumed, and its
    source says how to get a better one."""
    return (resources.files("paretosoc.platforms.data") / "new_platform.txt").read_text("utf-8")


def _text(value: Any, depth: int) -> str:
    line = json.dumps(json_numbers(value), ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return line
    if "source" not in value and len(line) + depth <= _LINE:
        return line
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_text(item, depth + 1)}" for key, item in value.items()]
        return "{" + inner + f",{inner}".join(items) + outer + "}"
    if not any(isinstance(item, dict | list) for item in value):
        return line
    return "[" + inner + f",{inner}".join(_text(item, depth + 1) for item in value) + outer + "]"
