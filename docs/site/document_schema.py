"""The JSON Schema of a document (:mod:`common.documents.document`), from its dataclass."""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter
from enum import Enum
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from paretosoc.common.documents.document import Entry, entries_of, find_mark, unpack
from paretosoc.common.documents.marks import (
    Array,
    As,
    ByName,
    Choices,
    Items,
    Keys,
    LeftOut,
    NameOf,
    Range,
    Text,
)

Schema = dict[str, Any]
_TYPES = {int: "integer", str: "string", bool: "boolean", float: "number"}


def schema_of(kind: type, before: Schema, after: Schema) -> Schema:
    """Return the schema of an object: the keys of its class, with further keys before and after its
    own. Classes that occur twice are ``$defs``.
    """
    counting = _Schemas(None)
    counting.object_of(kind)
    schemas = _Schemas(counting.uses)
    own = schemas.object_of(kind)
    schema = {"description": class_text(kind), **own}
    schema["required"] = [*before, *own["required"], *after]
    schema["properties"] = before | own["properties"] | after
    return schema | ({"$defs": schemas.definitions} if schemas.definitions else {})


class _Schemas:
    """Schemas of types.

    Args:
        uses: how often each class occurs, or None to count that.
    """

    def __init__(self, uses: Counter[str] | None) -> None:
        self._known = uses
        self.uses: Counter[str] = Counter()
        self.definitions: Schema = {}

    def object_of(self, kind: Any, constants: Schema | None = None) -> Schema:
        """Return the schema of a dataclass's objects."""
        properties, required = dict(constants or {}), list(constants or {})
        for entry in self._entries(kind):
            text = attribute_texts(entry.owner).get(entry.name)
            described = {"description": text} if text else {}
            properties[entry.key] = described | self._of_entry(entry)
            if not entry.mark(LeftOut):
                required.append(entry.key)
        return {
            "type": "object",
            "additionalProperties": False,
            "required": required,
            "properties": properties,
        }

    def _entries(self, kind: Any) -> list[Entry]:
        found = []
        for entry in entries_of(kind):
            keys = entry.mark(Keys)
            found += [entry] if keys is None else self._entries(keys.type)
        return found

    def _of_entry(self, entry: Entry) -> Schema:
        hint, rule = entry.hint, entry.mark(LeftOut)
        if rule and not rule.without and NoneType in get_args(hint):
            # Left out in place of null.
            (hint,) = (part for part in get_args(hint) if part is not NoneType)
        return self._of(hint, entry.marks)

    def _of(self, hint: Any, marks: tuple[Any, ...] = ()) -> Schema:
        kind, own = unpack(hint)
        marks = (*own, *marks)
        if other := find_mark(marks, As):
            return self._of(other.type)
        if find_mark(marks, ByName):
            return {"type": "object", "additionalProperties": self._of(get_args(kind)[0])}
        if get_origin(kind) in (Union, UnionType):
            parts = [part for part in get_args(kind) if part is not NoneType]
            if len(parts) > 1:
                return self._tagged(parts)
            return _or_null(self._of(parts[0], marks))
        if find_mark(marks, NameOf):
            return {"type": "string", "minLength": 1}
        if get_origin(kind) is tuple:
            return self._list(get_args(kind), marks)
        if get_origin(kind) is dict:
            return {"type": "object", "additionalProperties": self._of(get_args(kind)[1])}
        if get_origin(kind) is not None:
            return self._array(get_args(get_args(kind)[1])[0].__name__, marks)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [value.value for value in kind]}
        if kind in _TYPES:
            return _scalar(kind, marks)
        return self._class(kind)

    def _class(self, kind: Any) -> Schema:
        name = kind.__name__.strip("_")
        key = name[0].lower() + name[1:]
        self.uses[key] += 1
        if self._known is None:
            return self.object_of(kind) if self.uses[key] == 1 else {}
        if self._known[key] < 2:
            return self.object_of(kind)
        if key not in self.definitions:
            self.definitions[key] = self.object_of(kind)
        return {"$ref": f"#/$defs/{key}"}

    def _tagged(self, kinds: list[Any]) -> Schema:
        cases = [
            {
                "if": {"properties": {"model": {"const": kind.model}}},
                "then": {
                    "description": class_text(kind),
                    **self.object_of(kind, {"model": True}),
                },
            }
            for kind in kinds
        ]
        for case in cases:
            del case["then"]["type"]
        return {
            "type": "object",
            "required": ["model"],
            "properties": {"model": {"enum": [kind.model for kind in kinds]}},
            "allOf": cases,
        }

    def _list(self, hints: tuple[Any, ...], marks: tuple[Any, ...]) -> Schema:
        rule = find_mark(marks, Items) or Items()
        if hints[-1] is not ...:
            rule = Items(len(hints), len(hints))
        inner = tuple(mark for mark in marks if isinstance(mark, Range))
        return _sized(rule) | {"items": self._of(hints[0], inner)}

    def _array(self, dtype: str, marks: tuple[Any, ...]) -> Schema:
        axes = (find_mark(marks, Array) or Array()).axes
        rule = find_mark(marks, Items) or Items()
        part = _scalar(bool, ()) if dtype.startswith("bool") else _scalar(int, marks)
        if axes is None:
            name = f"table_from_{part['minimum']}".replace("-", "minus_")
            self.definitions[name] = part | {
                "type": ["integer", "array"],
                "minItems": 1,
                "items": {"$ref": f"#/$defs/{name}"},
            }
            return _sized(rule) | {"items": {"$ref": f"#/$defs/{name}"}}
        for _ in range(axes - 1):
            part = {"type": "array", "items": part}
        return _sized(rule) | {"items": part}


def _sized(rule: Items) -> Schema:
    limits = {"minItems": rule.least or None, "maxItems": rule.most}
    return {"type": "array"} | {key: value for key, value in limits.items() if value is not None}


def _scalar(kind: type, marks: tuple[Any, ...]) -> Schema:
    if choices := find_mark(marks, Choices):
        return {"enum": list(choices.values)}
    rule, text = find_mark(marks, Range) or Range(), find_mark(marks, Text) or Text()
    limits = {
        "minimum": rule.low,
        "maximum": rule.high,
        "minLength": text.min_length or None,
        "pattern": text.pattern,
    }
    given = {key: value for key, value in limits.items() if value is not None}
    return {"type": _TYPES[kind]} | given


def _or_null(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str):
        return schema | {"type": [schema["type"], "null"]}
    return {"anyOf": [{"type": "null"}, schema]}


@cache
def _classes_of(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def class_text(kind: type) -> str:
    """Return the docstring of a class in one line."""
    return _plain(inspect.getdoc(kind) or "")


def attribute_texts(kind: type) -> dict[str, str]:
    """Return the docstrings below a class's fields, each in one line."""
    body = _classes_of(kind.__module__)[kind.__name__].body
    return {
        field.target.id: _plain(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("``", "")
