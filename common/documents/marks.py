"""Marks in the annotations of a document's dataclass (:mod:`common.documents.document`).

A field is a key of the same name, in the order of the fields. Its docstring is the description in
the schema. ``Annotated`` adds restrictions to the type, by the classes below::

    waits_for: tuple[Annotated[int, NameOf("networks")], ...] = ()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypeVar

from paretosoc.common.documents.strict_json import json_path
from paretosoc.common.errors import DseError

T = TypeVar("T")
INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class Range:
    """Limits a number, or each number of a list, an array or a table of any depth."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Text:
    """Limits a text."""

    pattern: str | None = None
    min_length: int = 0


@dataclass(frozen=True)
class Items:
    """Limits the length of a list."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Array:
    """The nesting of an array: a number of axes, or any."""

    axes: int | None = 1


@dataclass(frozen=True)
class LeftOut:
    """Marks a key that is left out if the field has its default. With ``without``: if that other
    field is None. With :class:`NameOf`: if there are no names."""

    without: str = ""


@dataclass(frozen=True)
class NameOf:
    """Marks an index that is written as a name of one of the context's lists."""

    names: str


@dataclass(frozen=True)
class ByName:
    """Marks a tuple that is written as an object whose keys are one of the context's lists."""

    names: str


@dataclass(frozen=True)
class Key:
    """Marks a field whose key has another name."""

    name: str


@dataclass(frozen=True)
class Choices:
    """Limits a text to these."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class As:
    """Marks a value that is written as one of another type. ``read`` and ``write`` convert."""

    type: Any
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]


@dataclass(frozen=True)
class Keys:
    """Marks a field that is written as the keys of another dataclass.

    ``write`` takes the object with the field and returns that dataclass. ``read`` returns the
    values of this field and of ``also``, other fields that have no keys of their own.
    """

    type: type
    read: Callable[[Any, Context], Mapping[str, Any]]
    write: Callable[[Any, Context], Any]
    also: tuple[str, ...] = ()


Count = Annotated[int, Range(0, INT64_MAX)]
Positive = Annotated[int, Range(1, INT64_MAX)]
Int64 = Annotated[int, Range(-INT64_MAX - 1, INT64_MAX)]
Seconds = Annotated[float, Range(0)]
Name = Annotated[str, Text(min_length=1)]
Sha256 = Annotated[str, Text("^[0-9a-f]{64}$")]
Maybe = Annotated[T | None, LeftOut()]
Default = Annotated[T, LeftOut()]


@dataclass(frozen=True)
class Context:
    """Lists of names that indices stand for, and the object that a document is of."""

    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    subject: Any = None

    @cached_property
    def indices(self) -> dict[str, dict[str, int]]:
        """Return the index of each name, for each list."""
        return {key: {name: i for i, name in enumerate(own)} for key, own in self.names.items()}


class Fault(DseError):
    """Content that cannot be read. ``path`` leads to the place."""

    def __init__(self, requirement: str, path: str = "") -> None:
        super().__init__(f"${path}: {requirement}")
        self.requirement, self.path = requirement, path

    def below(self, key: str | int) -> Fault:
        """Return the fault with the key of the value that it is in."""
        return Fault(self.requirement, json_path([key])[1:] + self.path)
