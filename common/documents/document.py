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

from paretosoc.common.documents.marks import As, ByName, Context, Fault, Key, Keys, LeftOut, NameOf
from paretosoc.common.text import did_you_mean

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


def fields_of(kind: type) -> list[Entry]:
    """Return the fields in their order."""
    hints = get_type_hints(kind, include_extras=True)
    return [Entry(kind, f.name, *unpack(hints[f.name]), f.default) for f in fields(kind)]


@cache
def entries_of(kind: type) -> tuple[Entry, ...]:
    """Return the fields that have keys."""
    found = fields_of(kind)
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
        # Told apart by their class variable ``model``.
        of = {part.model: codec_of(part) for part in kinds}
        return Codec(
            lambda value, context: of[value["model"]].read(value, context),
            lambda value, context: {"model": value.model} | of[value.model].write(value, context),
        )
    inner = codec_of(kinds[0])
    if inner is _PLAIN:
        return inner
    return Codec(
        lambda value, context: None if value is None else inner.read(value, context),
        lambda value, context: None if value is None else inner.write(value, context),
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
        (entry, entry.key, keys, codec_of(keys.type if keys else marked(entry.hint, entry.marks)))
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


def marked(hint: Any, marks: tuple[Any, ...]) -> Any:
    """Return a type with marks."""
    for mark in marks:
        hint = Annotated[hint, mark]
    return hint
