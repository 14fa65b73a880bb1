"""JSON text whose bytes follow from the content alone, and a reader that accepts no doubtful text.

The layout: keys in the order given, two spaces a level. A list or object that holds only scalars
takes one line, so a table has one row per line.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from itertools import repeat

from paretosoc.common.documents.marks import INT64_MAX as INT64_MAX
from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.files import naming
from paretosoc.common.text import shortened
from paretosoc.results.errors import ResultError

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def canonical_bytes(document: Json) -> bytes:
    """Return the UTF-8 text of ``document``, newline at the end. Equal content gives equal bytes.

    Raises:
        ValueError: if a number is NaN or infinite.
    """
    parts: list[str] = []
    _append(document, "", parts)
    parts.append("\n")
    return "".join(parts).encode("utf-8")


def _append(value: Json, indent: str, parts: list[str]) -> None:
    children: Iterable[Json] = ()
    if isinstance(value, dict):
        children = value.values()
    elif isinstance(value, list):
        children = value
    kinds = set(map(type, children))
    if kinds == {int} and isinstance(value, list):
        # Rows of tables: most of a document.
        parts.append(f"[{', '.join(map(repr, value))}]")
        return
    if not any(issubclass(kind, dict | list) for kind in kinds):
        parts.append(_one_line(value))
        return
    inner = indent + "  "
    is_object = isinstance(value, dict)
    keys = (f"{_one_line(key)}: " for key in value) if isinstance(value, dict) else repeat("")
    separator = "{\n" if is_object else "[\n"
    for key, child in zip(keys, children, strict=False):
        parts.append(f"{separator}{inner}{key}")
        _append(child, inner, parts)
        separator = ",\n"
    parts.append(f"\n{indent}{'}' if is_object else ']'}")


_one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def content_sha256(document: Json) -> str:
    """Return the SHA-256 of the content, independent of the layout and the order of keys. It hashes
    the text without spaces and with sorted keys (``json.dumps(..., sort_keys=True, separators=(",",
    ":"))``)."""
    text = json.dumps(
        document, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return sha256_of(text.encode("utf-8"))


def signed(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document with ``content_sha256`` at its end.

    Raises:
        ResultError: if a number is not finite.
    """
    try:
        return {**document, "content_sha256": content_sha256(document)}
    except ValueError:
        raise ResultError("$: numbers must be finite") from None


def check_signature(document: Mapping[str, Json]) -> str:
    """Return ``content_sha256``, computed anew.

    Raises:
        ResultError: if the content was changed after it was written.
    """
    computed = content_sha256({k: v for k, v in document.items() if k != "content_sha256"})
    if document["content_sha256"] != computed:
        raise ResultError("$.content_sha256: the content was changed after it was written")
    return computed


def parse(data: bytes) -> Json:
    """Return the document in ``data``: strict JSON in UTF-8, no key twice, no NaN, no number too
    large for a float, no control characters in texts.

    Raises:
        ResultError: if the text is not that.
    """
    with naming("", ResultError, DseError):
        document: Json = parse_json(data, decimal=_finite)
    return document


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ResultError(f"numbers must be finite, got {shortened(text)}")
    return number


def finite_or_none(value: float) -> float | None:
    """Return the value, or None if JSON has no such number, as the rate of a pipeline that takes no
    time."""
    return value if math.isfinite(value) else None
