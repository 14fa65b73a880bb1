"""The schemas of result files."""

from __future__ import annotations

from typing import Any

from common.schema import read_schema, violation
from results.errors import ResultError
from results.io.canonical_json import Json

_PACKAGE = "results.io.schemas"


def schema(name: str) -> dict[str, Any]:
    """Return the schema ``results/io/schemas/NAME.schema.json``."""
    return read_schema((_PACKAGE, name))


def check_against_schema(document: Json, name: str) -> None:
    """Accepts documents that follow the schema. 1.0 is not an integer here.

    Raises:
        ResultError: what does not follow it, with its JSON path.
    """
    found = violation(document, (_PACKAGE, name), by_representatives=True)
    if found is not None:
        path, text = found
        raise ResultError(f"{path}: {text}")
