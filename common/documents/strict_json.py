"""JSON as every reader of this program takes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from paretosoc.common.errors import DseError
from paretosoc.common.text import has_control_characters, printable, shortened

_WORD = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_ESCAPE = re.compile(r"\\[bfnrtu]")


def parse_json(
    data: bytes,
    *,
    integer: Callable[[str], Any] | None = None,
    decimal: Callable[[str], Any] | None = None,
) -> Any:
    """Return the document in a text in UTF-8.

    Args:
        data: the text. A byte order mark is skipped.
        integer: converts a number without point and exponent, by default to an ``int``.
        decimal: converts any other number, by default to a ``float``.

    Raises:
        DseError: if it is not JSON, is nested too deeply, has a key twice in one object, a text
            with control characters, or a number that is not finite or has thousands of digits. The
            message does not name the file.
    """
    parse: Callable[..., Any] = json.loads
    try:
        text = data.decode("utf-8-sig")
        document = parse(
            text,
            parse_int=integer,
            parse_float=decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError:
        raise DseError("must be JSON in UTF-8, got other bytes") from None
    except json.JSONDecodeError as error:
        raise DseError(
            f"must be JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DseError("must be JSON of moderate depth, got deeper") from None
    except ValueError as error:
        # Errors of the callers' number makers are both.
        if isinstance(error, DseError):
            raise
        # Python converts no longer ones, for that takes quadratic time.
        raise DseError("must be JSON whose numbers have few digits, got thousands") from None
    # Below the space the decoder takes none in texts, unless escaped.
    plain = text.isascii() and "\x7f" not in text
    if _ESCAPE.search(text) or not (plain or printable(text) == text):
        _check_texts(document)
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DseError(f"key {shortened(key)!r} is there twice in one object")
            seen.add(key)
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise DseError(f"numbers must be finite, got {name}")


def _check_texts(document: Any) -> None:
    """Refuse control characters in keys and texts, at any depth."""
    rest = [("$", document)]
    while rest:
        path, value = rest.pop()
        if isinstance(value, dict):
            # Keys are looked at first: paths, and so messages, have none that is refused.
            rest.extend((f"{path}.{shortened(key)}", item) for key, item in value.items())
            rest.extend((path, key) for key in value)
        elif isinstance(value, list):
            rest.extend((f"{path}[{index}]", item) for index, item in enumerate(value))
        elif isinstance(value, str) and has_control_characters(value):
            raise DseError(
                f"{path}: texts must not have control characters, got {shortened(value)!r}"
            )


def json_path(keys: Sequence[str | int]) -> str:
    """Return ``$.units[0].name`` for ``("units", 0, "name")``. Keys that are no plain word are
    quoted."""
    return "$" + "".join(
        f".{key}" if isinstance(key, str) and _WORD.fullmatch(key) else f"[{json.dumps(key)}]"
        for key in keys
    )
