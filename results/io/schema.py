"""The schemas of result files."""

from __future__ import annotations

from typing import Any

from paretosoc.common.schema import read_schema, violation
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json

_PACKAGE = "paretosoc.results.io.schemas"


def schema(name: str) -> dict[str, Any]:
    """Return the schema ``results/io/schemas/NAME.schema.json``."""
    return read_schema((_PACKAGE, name))


def check_against_schema(document: Json, name: str) -> None:
    """Accept a document that follows the schema. 1.0 is not an integer here.

    Raises:
        ResultError: naming the JSON path of a value that does not follow it.
    """
    found = violation(document, (_PACKAGE, name), by_representatives=True)
    if found is not None:
        path, text = found
        raise ResultError(f"{path}: {text}")
