"""Kinds of values: their forms in the library, on the command line and in files."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Any

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import (
    UNIT_SIZES,
    exact,
    parse_number,
    parse_with_unit,
    power,
)
from paretosoc.results.problem.execution import MAX_TOLERANCE_PERMILLE
from paretosoc.sdf.grouping.options import Grouping

MIN_NUMBER, MAX_NUMBER = Fraction(1, 10**9), Fraction(10**9)
"""Range of quantities, in the unit of the option."""


class Kind:
    """Kind of an option's values. In all methods ``name`` begins the message of an error."""

    argument: Any = list[str]
    """The type that the command line has for it, a list if it is repeatable."""
    json_type: Any = str | None
    """The type of a value in JSON."""
    form: Any = None
    """The value's place holder in help texts. None: the name of its type."""

    def read(self, value: Any, name: str) -> Any:
        """Return a value of the library as the program has it.

        Raises:
            WorkloadError: on any other value.
        """
        raise NotImplementedError

    def parse(self, given: Any, name: str) -> Any:
        """Return the program's value of a text given on the command line.

        Raises:
            WorkloadError: on a text of another form.
        """
        return self.read(given, name)

    def given(self, value: Any) -> Any:
        """Return the library's form of a value of the program: the inverse of :meth:`read`."""
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a value in a file."""
        return {"type": "string", "minLength": 1, "maxLength": 1000}


class Flag(Kind):
    """True or False."""

    argument = bool
    json_type = bool | None

    def read(self, value: Any, name: str) -> bool:
        if not isinstance(value, bool):
            raise wrong_argument(name, "True or False", value)
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Number(Kind):
    """A number in a range."""

    least: Any
    most: Any
    metavar: str = "N"

    def of_text(self, text: str) -> Any:
        """Return the number that is written, alone or with a unit behind it, in the option's unit.
        Return None if it is none of these."""
        value = parse_with_unit(text, self.metavar)
        return value if value is not None and self.least <= value <= self.most else None

    @property
    def words(self) -> str:
        """Return the range in words."""
        return f"from {power(self.least)} to {power(self.most)}"


@dataclass(frozen=True)
class Whole(Number):
    """An integer in a range."""

    least: int
    most: int
    argument = int
    json_type = int | None

    def read(self, value: Any, name: str) -> int:
        fits = isinstance(value, Integral) and not isinstance(value, bool)
        if not fits or not self.least <= int(value) <= self.most:
            raise wrong_argument(name, f"an integer {self.words}", value)
        return int(value)

    def of_text(self, text: str) -> int | None:
        value = super().of_text(text)
        return None if value is None or value.denominator != 1 else int(value)

    @property
    def bounds(self) -> str:
        """Return the form of a number and its range, for messages."""
        return f"{self.metavar} with an integer {self.metavar} {self.words}"

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


ANY = "any"


@dataclass(frozen=True)
class WholeOr(Kind):
    """An integer in a range, or a word."""

    each: Whole
    words: tuple[str, ...] = (ANY,)
    argument = str
    json_type = int | str | None

    @property
    def metavar(self) -> str:
        """Return the form of a value."""
        return "|".join((self.each.metavar, *self.words))

    form = metavar

    def read(self, value: Any, name: str) -> Any:
        meant = self.of_word(value) if isinstance(value, str) else None
        if meant is not None:
            return meant
        try:
            return self.each.read(value, name)
        except WorkloadError:
            words = f"an integer {self.each.words}, or {', '.join(self.words)},"
            raise wrong_argument(name, words, value) from None

    def of_word(self, text: str) -> Any:
        """Return the value that a word stands for, or None if it is none of these."""
        return text if text in self.words else None

    def parse(self, given: Any, name: str) -> Any:
        number = self.each.of_text(str(given))
        return self.read(given if number is None else number, name)

    def of_text(self, text: str) -> Any:
        """Return the written value, or None if it is none of these."""
        number = self.each.of_text(text)
        return self.of_word(text) if number is None else number

    @property
    def bounds(self) -> str:
        """Return the form of a value, for messages."""
        return f"{self.metavar} with an integer N {self.each.words}"

    def schema(self) -> dict[str, Any]:
        words = "|".join(self.words).replace(":N", ":[0-9]{1,9}")
        word = {"type": "string", "pattern": f"^({words})$"}
        return {"oneOf": [{"type": "null"}, self.each.schema(), word]}


@dataclass(frozen=True)
class Groups(WholeOr):
    """A number of groups, or a way to cut a network into them."""

    words: tuple[str, ...] = ("layers", "branches", "branches:N")

    def read(self, value: Any, name: str) -> int | Grouping:
        return value if isinstance(value, Grouping) else super().read(value, name)

    def of_word(self, text: str) -> Grouping | None:
        word, colon, number = text.partition(":")
        count = self.each.of_text(number) if word == "branches" else None
        if bool(colon) != (count is not None) or word not in self.words:
            return None
        return Grouping(count, branches=word == "branches", each_layer=word == "layers")


@dataclass(frozen=True)
class Quantity(Number):
    """A number in a range, kept exactly. Floats are read in decimal, as they are written."""

    metavar: str = "N"
    least: Fraction = MIN_NUMBER
    most: Fraction = MAX_NUMBER
    argument = str
    json_type = float | None

    @property
    def form(self) -> str:
        return self.metavar

    def read(self, value: Any, name: str) -> Fraction:
        number = exact(value)
        if number is None or not self.least <= number <= self.most:
            raise wrong_argument(name, f"a number {self.words}", value)
        return number

    def parse(self, given: str, name: str) -> Fraction:
        number: Fraction | None = self.of_text(given)
        if number is None:
            raise wrong_argument(name, f"a number {self.bounds.partition(' ')[2]}", given)
        return number

    @property
    def bounds(self) -> str:
        """Return the form of a number, its range and its units, for messages."""
        sizes = UNIT_SIZES.get(self.metavar, {})
        own = next((f" in {unit}" for unit, size in sizes.items() if size == 1), "")
        others = f" (or with a unit: {', '.join(sizes)})" if len(sizes) > 1 else ""
        return f"{self.metavar} {self.words}{own}{others}"

    def schema(self) -> dict[str, Any]:
        least = "exclusiveMinimum" if self.least == MIN_NUMBER else "minimum"
        number = {"type": ["number", "string"], least: int(self.least), "maximum": int(self.most)}
        return super().schema() | number


class Tolerance(Kind):
    """Times within which a group may stay, as parts of its nominal time: 0.7..1.1."""

    argument = str
    form = "LEAST..MOST"
    most = Fraction(MAX_TOLERANCE_PERMILLE, 1000)

    def read(self, value: Any, name: str) -> tuple[Fraction, Fraction]:
        if isinstance(value, str):
            return self.parse(value, name)
        pair = tuple(value) if isinstance(value, Sequence) else ()
        return self._checked([exact(one) for one in pair], value, name)

    def parse(self, given: str, name: str) -> tuple[Fraction, Fraction]:
        return self._checked([parse_number(part) for part in given.split("..")], given, name)

    def _checked(
        self, pair: Sequence[Fraction | None], given: object, name: str
    ) -> tuple[Fraction, Fraction]:
        match pair:
            case [Fraction() as least, Fraction() as most] if 0 <= least <= 1 <= most <= self.most:
                return least, most
        words = f"LEAST..MOST with 0 <= LEAST <= 1 <= MOST <= {self.most}"
        raise wrong_argument(name, words, given)


@dataclass(frozen=True)
class Choice(Kind):
    """A member of an enumeration, or its value."""

    argument: type[Enum]

    def read(self, value: Any, name: str) -> Any:
        if isinstance(value, self.argument):
            return value
        for member in self.argument:
            if isinstance(value, str) and member.value == value:
                return member
        names = ", ".join(str(member.value) for member in self.argument)
        raise wrong_argument(name, f"one of {names}", value)

    def schema(self) -> dict[str, Any]:
        return {"enum": [member.value for member in self.argument]}


class File(Kind):
    """A file."""

    argument = Path
    form = "FILE"

    def read(self, value: Any, name: str) -> Path:
        if not isinstance(value, str | Path):
            raise wrong_argument(name, "a file", value)
        return Path(value)


def texts_by_name(given: Iterable[str], option: str, form: str) -> dict[str, str]:
    """Return the values of texts such as ``NETWORK=FILE``.

    Raises:
        WorkloadError: on a text of another form, or two values of one name.
    """
    found: dict[str, str] = {}
    for text in given:
        name, _, value = text.partition("=")
        if not name or not value:
            raise wrong_argument(option, form, text)
        if found.setdefault(name, value) != value:
            what = f"{form} for each {form.partition('=')[0]}"
            raise not_one(option, what, f"{name}={found[name]}", text)
    return found


def not_one(option: str, what: str, first: str, second: str) -> WorkloadError:
    """Return the error about two values of one name."""
    return WorkloadError(f"{option}: one {what} is required, got {first} and {second}")


def wrong_argument(name: str, words: str, value: object) -> WorkloadError:
    """Return the error that names an argument, the requirement and the value."""
    return WorkloadError(f"{name}: {words} is required, got {reprlib.repr(value)}")
