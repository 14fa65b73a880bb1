"""Documents stated once: the annotations of a dataclass (:mod:`common.documents.marks`) give its
reader, its writer and, in ``docs/site``, its JSON Schema.

Readers expect content that follows the schema. They turn names into indices and lists into tuples
or arrays. Whether the values make sense together is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from paretosoc.common.documents.marks import (
    As,
    ByName,
    Context,
    Fault,
    Items,
    Key,
    Keys,
    LeftOut,
    NameOf,
    Range,
    Text,
)
from paretosoc.common.text import did_you_mean, has_control_characters

T = TypeVar("T")


class Codec(NamedTuple):
    """Converts JSON content to values of one type and back."""

    read: Callable[[Any, Context], Any]
    write: Callable[[Any, Context], Any]


def read_document(kind: type[T], content: Any, context: Context | None = None) -> T:
    """Return the object in JSON content that follows the schema. Further keys are ignored.

    Raises:
        Fault: on a name that is not known, keys that are not the names of a list, or rows of
            different lengths.
    """
    hint: Any = kind
    value: T = codec_of(hint).read(content, context or Context())
    return value


def write_document(value: Any, context: Context | None = None) -> dict[str, Any]:
    """Return an object as JSON content, the inverse of :func:`read_document`."""
    hint: Any = type(value)
    document: dict[str, Any] = codec_of(hint).write(value, context or Context())
    return document


class Entry(NamedTuple):
    """A field of a dataclass, its type without marks, and these."""

    owner: Any
    name: str
    hint: Any
    marks: tuple[Any, ...]
    default: Any

    @property
    def key(self) -> str:
        """Return the name of its key."""
        renamed = self.mark(Key)
        return self.name if renamed is None else renamed.name

    def mark(self, kind: type[T]) -> T | None:
        """Return the mark of this kind, or None."""
        return find_mark(self.marks, kind)


def find_mark(marks: tuple[Any, ...], kind: type[T]) -> T | None:
    """Return the last mark of a kind, the outermost, or None."""
    return next((mark for mark in reversed(marks) if isinstance(mark, kind)), None)


def unpack(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its marks, and these."""
    if get_origin(hint) is Annotated:
        return hint.__origin__, hint.__metadata__
    return hint, ()


@cache
def entries_of(kind: type) -> tuple[Entry, ...]:
    """Return the fields that have keys, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    found = [Entry(kind, f.name, *unpack(hints[f.name]), f.default) for f in fields(kind)]
    hidden = {name for entry in found if (keys := entry.mark(Keys)) for name in keys.also}
    return tuple(entry for entry in found if entry.name not in hidden)


@cache
def codec_of(hint: Any) -> Codec:
    """Return the codec of a type with its marks."""
    kind, marks = unpack(hint)
    if other := find_mark(marks, As):
        return _converted(other)
    if name_of := find_mark(marks, NameOf):
        return _index(name_of.names)
    if by_name := find_mark(marks, ByName):
        return _by_name(by_name.names, get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return _union(kind)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind))
    if get_origin(kind) is dict:
        return _mapping(get_args(kind)[1])
    if getattr(get_origin(kind), "__name__", "") == "ndarray":
        return _array(get_args(get_args(kind)[1])[0])
    if is_dataclass(kind):
        return _object(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Codec(lambda value, _: kind(value), lambda value, _: value.value)
    if kind is float:
        return Codec(_float, lambda value, _: value)
    return _PLAIN


_PLAIN = Codec(lambda value, _: value, lambda value, _: value)


def _float(value: float, _: Context) -> float:
    try:
        return float(value)
    except OverflowError:
        bits = int(value).bit_length()
        raise Fault(f"must be within 1.8e308 of 0, got an integer of {bits} bits") from None


def _converted(other: As) -> Codec:
    inner = codec_of(other.type)
    return Codec(
        lambda value, context: other.read(inner.read(value, context)),
        lambda value, context: inner.write(other.write(value), context),
    )


def _index(names: str) -> Codec:
    def read(name: str, context: Context) -> int:
        known = context.indices[names]
        if name not in known:
            hint = did_you_mean(name, known, "")
            text = f"must be one of {', '.join(known)}; got {name!r}"
            raise Fault(f"{text} ({hint})" if hint else text)
        return known[name]

    return Codec(read, lambda index, context: context.names[names][index])


def _by_name(names: str, hint: Any) -> Codec:
    inner = codec_of(hint)

    def read(values: dict[str, Any], context: Context) -> tuple[Any, ...]:
        known = context.indices[names]
        if values.keys() != known.keys():
            raise Fault(f"must have the keys {', '.join(known)}; got {', '.join(values)}")
        if inner is _PLAIN:
            return tuple(map(values.__getitem__, known))
        return tuple(_read_at(inner, values[name], name, context) for name in known)

    def write(values: tuple[Any, ...], context: Context) -> dict[str, Any]:
        written = (inner.write(value, context) for value in values)
        return dict(zip(context.names[names], written, strict=True))

    return Codec(read, write)


def _mapping(hint: Any) -> Codec:
    inner = codec_of(hint)
    return Codec(
        lambda values, context: {k: _read_at(inner, v, k, context) for k, v in values.items()},
        lambda values, context: {k: inner.write(v, context) for k, v in values.items()},
    )


def _union(kind: Any) -> Codec:
    kinds = [part for part in get_args(kind) if part is not NoneType]
    if all(is_dataclass(unpack(part)[0]) for part in kinds) and len(kinds) > 1:
        return _tagged(kinds)
    inner = codec_of(kinds[0])
    if inner is _PLAIN:
        return inner
    return Codec(
        lambda value, context: None if value is None else inner.read(value, context),
        lambda value, context: None if value is None else inner.write(value, context),
    )


def _tagged(kinds: list[Any]) -> Codec:
    """Return the codec of dataclasses that are told apart by their class variable ``model``."""
    codecs = {kind.model: codec_of(kind) for kind in kinds}
    return Codec(
        lambda value, context: codecs[value["model"]].read(value, context),
        lambda value, context: {"model": value.model} | codecs[value.model].write(value, context),
    )


def _tuple(hints: tuple[Any, ...]) -> Codec:
    inner = codec_of(hints[0])
    if inner is _PLAIN:
        return Codec(lambda values, _: tuple(values), lambda values, _: list(values))

    def read(values: list[Any], context: Context) -> tuple[Any, ...]:
        return tuple(_read_at(inner, value, i, context) for i, value in enumerate(values))

    return Codec(read, lambda values, context: [inner.write(value, context) for value in values])


def _read_at(codec: Codec, value: Any, key: str | int, context: Context) -> Any:
    try:
        return codec.read(value, context)
    except Fault as fault:
        raise fault.below(key) from None


def _array(dtype: Any) -> Codec:
    def read(values: Any, _: Context) -> Any:
        import numpy as np

        try:
            array = np.array(values, dtype=dtype)
        except (ValueError, TypeError, OverflowError):
            what = "booleans" if dtype is np.bool_ else "int64 numbers"
            raise Fault(f"must be rows of equal length of {what}") from None
        array.setflags(write=False)
        return array

    return Codec(read, lambda array, _: array.tolist())


def _object(kind: Any) -> Codec:
    entries = entries_of(kind)
    parts = [
        (entry, entry.key, keys, codec_of(keys.type if keys else _marked(entry.hint, entry.marks)))
        for entry in entries
        for keys in [entry.mark(Keys)]
    ]

    def read(content: dict[str, Any], context: Context) -> Any:
        values: dict[str, Any] = {}
        for entry, key, keys, codec in parts:
            if keys:
                values |= keys.read(codec.read(content, context), context)
            elif key in content:
                values[entry.name] = _read_at(codec, content[key], key, context)
        return kind(**values)

    def write(value: Any, context: Context) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for entry, key, keys, codec in parts:
            if keys:
                document |= codec.write(keys.write(value, context), context)
            elif not _is_left_out(entry, value, context):
                document[key] = codec.write(getattr(value, entry.name), context)
        return document

    return Codec(read, write)


def _is_left_out(entry: Entry, value: Any, context: Context) -> bool:
    rule = entry.mark(LeftOut)
    if rule is None:
        return False
    if (name_of := entry.mark(NameOf)) is not None:
        return not context.names[name_of.names]
    if rule.without:
        return getattr(value, rule.without) is None
    part = getattr(value, entry.name)
    return part is entry.default or (isinstance(part, int | tuple) and part == entry.default)


def _marked(hint: Any, marks: tuple[Any, ...]) -> Any:
    for mark in marks:
        hint = Annotated[hint, mark]
    return hint


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
    only = _marked(kinds[0], marks) if is_union and not several else None
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
    hints = get_type_hints(kind, include_extras=True)
    entries = [Entry(kind, f.name, *unpack(hints[f.name]), f.default) for f in fields(kind)]
    return tuple((e.name, e.key, e.default, hints[e.name]) for e in entries)
