"""The schemas of files that people write about chips, and others that share their figures."""

from __future__ import annotations

from typing import Any

from paretosoc.common.documents.schema import read_schema as read_published
from paretosoc.common.documents.schema import violation
from paretosoc.platforms.errors import PlatformError

_PACKAGE = "paretosoc.platforms.data"


def read_schema(name: str, package: str = _PACKAGE) -> dict[str, Any]:
    """Return the schema ``NAME.schema.json`` in a package."""
    return read_published((package, name))


def check_against_schema(
    document: Any, schema_name: str, label: str, *, package: str = _PACKAGE
) -> None:
    """Check ``document`` against ``SCHEMA_NAME.schema.json`` of a package.

    Raises:
        PlatformError: naming ``label``, the place (``units[0].name``), the requirement and the
            value.
    """
    try:
        found = violation(document, (package, schema_name), ((_PACKAGE, "figures"),))
    except RecursionError:
        raise PlatformError(f"{label}: must be JSON of moderate depth, got deeper") from None
    if found is not None:
        path, text = found
        # These files are written by people, in YAML, too: without the root of a JSON path.
        place = path.removeprefix("$").removeprefix(".")
        raise PlatformError(f"{label}: {place} {text}" if place else f"{label}: {text}")
