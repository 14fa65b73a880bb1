"""Checks of values against the marks of their fields (:mod:`common.documents.marks`)."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from paretosoc.common.documents.document import fields_of, find_mark, marked, unpack
from paretosoc.common.documents.marks import As, Fault, Items, Range, Text
from paretosoc.common.text import has_control_characters


def check_values(value: Any) -> None:
    """Check numbers, texts and lengths at any depth against the marks of their fields, whether
    these have keys or not. Fields with their default are not checked.

    Raises:
        Fault: naming the path and the requirement.
    """
    _check_value(value, type(value), "")


def _check_value(value: Any, hint: Any, path: str, or_null: str = "") -> None:
    if value is None:
        return
    rules = _rules_of(hint)
    if rules.has_reader:
        return
    if is_dataclass(value):
        own_kind: Any = type(value)
        for name, key, default, part in _checked_fields(own_kind):
            own = getattr(value, name)
            if own is not default:
                _check_value(own, part, f"{path}.{key}")
        return
    if rules.only is not None:
        _check_value(value, rules.only, path, "null or ")
    elif isinstance(value, tuple):
        if len(value) < rules.fewest_items:
            raise Fault("must not be empty", path)
        for i, part in enumerate(value):
            _check_value(part, rules.item, f"{path}[{i}]")
    elif isinstance(value, str):
        if len(value) < rules.min_length:
            raise Fault("must not be empty", path)
        if has_control_characters(value):
            raise Fault(f"must not have control characters, got {value!r}", path)
    elif rules.range is not None:
        _check_range(value, rules.range, path, or_null)


class _Rules(NamedTuple):
    """What values of a type are checked against. ``has_reader``: it has several kinds, such as an
    objective of a user's own, which its reader checks. ``only``: the type of what may be null."""

    has_reader: bool
    only: Any
    item: Any
    fewest_items: int
    min_length: int
    range: Range | None


@cache
def _rules_of(hint: Any) -> _Rules:
    kind, marks = unpack(hint)
    parts = get_args(kind)
    kinds = [part for part in parts if part is not NoneType]
    is_union = get_origin(kind) in (Union, UnionType)
    several = is_union and len(kinds) > 1
    has_reader = several and find_mark(marks, As) is not None
    assert has_reader or not several or all(map(is_dataclass, kinds)), "no reader of several kinds"
    only = marked(kinds[0], marks) if is_union and not several else None
    items, text = find_mark(marks, Items) or Items(), find_mark(marks, Text) or Text()
    item = parts[0] if parts else None
    return _Rules(has_reader, only, item, items.least, text.min_length, find_mark(marks, Range))


def _check_range(value: Any, rule: Range, path: str, or_null: str) -> None:
    smallest = largest = value
    if not isinstance(value, int | float):
        if value.dtype != "int64":
            raise Fault(f"must be int64, got {value.dtype}", path)
        if not value.size:
            return
        smallest, largest = int(value.min()), int(value.max())
    if rule.low is not None and smallest < rule.low:
        raise Fault(f"must be {or_null}>= {rule.low}, got {smallest}", path)
    if rule.high is not None and largest > rule.high:
        raise Fault(f"must be {or_null}<= {rule.high}, got {largest}", path)


@cache
def _checked_fields(kind: type) -> tuple[tuple[str, str, Any, Any], ...]:
    """Return the name, key, default and type of each field."""
    return tuple((e.name, e.key, e.default, marked(e.hint, e.marks)) for e in fields_of(kind))
