"""Kinds of values: their forms in the library, on the command line and in files."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any, ClassVar

from paretosoc.dse.errors import WorkloadError
from paretosoc.results.problem.execution import MAX_TOLERANCE_PERMILLE
from paretosoc.results.problem.own_objective import OwnObjective, remember
from paretosoc.sdf.grouping.options import Grouping

Number = int | float | Fraction | Decimal

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


@dataclass(frozen=True)
class Whole(Kind):
    """An integer in a range."""

    least: int
    most: int
    metavar: ClassVar[str] = "N"
    argument = int
    json_type = int | None

    def read(self, value: Any, name: str) -> int:
        fits = isinstance(value, Integral) and not isinstance(value, bool)
        if not fits or not self.least <= int(value) <= self.most:
            raise wrong_argument(name, f"an integer {self.words}", value)
        return int(value)

    def of_text(self, text: str) -> int | None:
        """Return the number that is written, or None if it is none of these."""
        value = parse_number(text)
        if value is None or value.denominator != 1 or not self.least <= value <= self.most:
            return None
        return int(value)

    @property
    def words(self) -> str:
        """Return the range in words."""
        return f"from {self.least} to {power(self.most)}"

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
        found: int | Grouping = value if isinstance(value, Grouping) else super().read(value, name)
        return found

    def of_word(self, text: str) -> Grouping | None:
        word, colon, number = text.partition(":")
        count = self.each.of_text(number) if word == "branches" else None
        if bool(colon) != (count is not None) or word not in self.words:
            return None
        return Grouping(count, branches=word == "branches", each_layer=word == "layers")


@dataclass(frozen=True)
class Quantity(Kind):
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
        return self._in_range(exact(value), value, name)

    def parse(self, given: str, name: str) -> Fraction:
        return self._in_range(parse_number(given), given, name)

    def _in_range(self, number: Fraction | None, given: object, name: str) -> Fraction:
        if number is None or not self.least <= number <= self.most:
            raise wrong_argument(name, f"a number {self.words}", given)
        return number

    def of_text(self, text: str) -> Fraction | None:
        """Return the number that is written, or None if it is none of these."""
        value = parse_number(text)
        return value if value is not None and self.least <= value <= self.most else None

    @property
    def words(self) -> str:
        """Return the range in words."""
        return f"from {power(self.least)} to {power(self.most)}"

    @property
    def bounds(self) -> str:
        """Return the form of a number and its range, for messages."""
        return f"{self.metavar} {self.words}"

    def schema(self) -> dict[str, Any]:
        least = "exclusiveMinimum" if self.least == MIN_NUMBER else "minimum"
        return {"type": "number", least: int(self.least), "maximum": int(self.most)}


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
class PerName(Kind):
    """A number for all networks or memory pools, or numbers by name."""

    each: Quantity | Whole
    of: str = "NETWORK"

    @property
    def json_type(self) -> Any:
        if isinstance(self.each, Whole):
            return int | dict[str, int] | None
        return float | dict[str, float] | None

    @property
    def form(self) -> str:
        """Return the placeholder of a value on the command line."""
        return f"[{self.of}=]{self.each.metavar}"

    def read(self, value: Any, name: str) -> tuple[tuple[str | None, Any], ...]:
        if isinstance(value, Mapping):
            return tuple((key, self.each.read(number, name)) for key, number in value.items())
        return ((None, self.each.read(value, name)),)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str | None, Any], ...]:
        numbers: list[tuple[str | None, Any]] = []
        for text in given:
            owner, equals, number = text.rpartition("=")
            value = self.each.of_text(number)
            if value is None:
                raise wrong_argument(name, f"[{self.of}=]{self.each.bounds}", text)
            numbers.append((owner if equals else None, value))
        return tuple(numbers)

    def given(self, value: Sequence[tuple[str | None, Any]]) -> dict[str | None, Any]:
        return dict(value)

    def schema(self) -> dict[str, Any]:
        return {"oneOf": [{"type": "null"}, self.each.schema(), super().schema()]}


@dataclass(frozen=True)
class ChoicesPerName(PerName):
    """A number for all networks, or numbers by name; several are choices: 1,2,4."""

    @property
    def json_type(self) -> Any:
        return int | list[int] | dict[str, int | list[int]] | None

    @property
    def form(self) -> str:
        return f"{super().form},..."

    def read(self, value: Any, name: str) -> tuple[tuple[str | None, Any], ...]:
        by_name = value if isinstance(value, Mapping) else {None: value}
        return tuple(
            (owner, self.each.read(number, name))
            for owner, given in by_name.items()
            for number in (given if isinstance(given, list | tuple) else [given])
        )

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str | None, Any], ...]:
        texts: list[str] = []
        for text in given:
            owner, equals, numbers = text.rpartition("=")
            texts += [f"{owner}{equals}{number}" for number in numbers.split(",")]
        return super().parse(texts, name)

    def given(self, value: Sequence[tuple[str | None, Any]]) -> dict[str | None, list[Any]]:
        return {
            owner: [number for other, number in value if other == owner] for owner in dict(value)
        }


@dataclass(frozen=True)
class Names(Kind):
    """One or several names. ``separator`` of names in one text. Without it, texts are repeated."""

    separator: str = ""
    json_type = str | list[str] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "argument", str if self.separator else list[str])
        object.__setattr__(self, "form", f"NAME{self.separator}..." if self.separator else "NAME")

    def read(self, value: Any, name: str) -> tuple[str, ...]:
        if isinstance(value, str):
            return self.parse(value if self.separator else [value], name)
        names = tuple(value) if isinstance(value, Iterable) else ()
        if not names or not all(isinstance(one, str) for one in names):
            raise WorkloadError(f"{name}: one or more names are required, got {value!r}")
        return names

    def parse(self, given: Any, name: str) -> tuple[str, ...]:
        if not self.separator:
            return tuple(given)
        names = tuple(one.strip() for one in given.split(self.separator) if one.strip())
        if not names:
            raise WorkloadError(f"{name}: at least one name is required, got {given!r}")
        return names


@dataclass(frozen=True)
class Objectives(Names):
    """Names of objectives. The library also takes those of a user's own as objects."""

    def read(self, value: Any, name: str) -> tuple[str, ...]:
        given = [value] if isinstance(value, OwnObjective) else value
        if isinstance(given, Sequence) and not isinstance(given, str):
            given = [remember(one) if isinstance(one, OwnObjective) else one for one in given]
        return super().read(given, name)


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


@dataclass(frozen=True)
class PerUnit(Kind):
    """One of several words for all units, or words by unit."""

    words: tuple[str, ...]
    json_type = str | dict[str, str] | None
    form = "[UNIT=]HOW"

    def read(self, value: Any, name: str) -> tuple[tuple[str | None, str], ...]:
        pairs = value.items() if isinstance(value, Mapping) else [(None, value)]
        if not all(isinstance(word, str) and word in self.words for _, word in pairs):
            raise wrong_argument(name, f"one of {', '.join(self.words)}, or one per unit", value)
        return tuple(pairs)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str | None, str], ...]:
        parts = [text.rpartition("=") for text in given]
        return tuple(
            (unit if equals else None, self.read(word, name)[0][1]) for unit, equals, word in parts
        )


class File(Kind):
    """A file."""

    argument = Path
    form = "FILE"

    def read(self, value: Any, name: str) -> Path:
        if not isinstance(value, str | Path):
            raise wrong_argument(name, "a file", value)
        return Path(value)


class Clocks(Kind):
    """A clock of each domain: MHz, ``max`` or ``min``."""

    json_type = dict[str, float | str] | None
    form = "DOMAIN=MHZ"

    def read(self, value: Any, name: str) -> tuple[tuple[str, str | Fraction], ...]:
        if not isinstance(value, Mapping):
            raise wrong_argument(name, "a mapping such as {'gpu': 1377}", value)
        clocks = []
        for domain, clock in value.items():
            number = exact(clock)
            if number is None and clock not in ("max", "min"):
                raise wrong_argument(name, "max, min or a frequency in MHz for each domain", clock)
            clocks.append((domain, clock if number is None else number))
        return tuple(clocks)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, str | Fraction], ...]:
        clocks: dict[str, str | Fraction] = {}
        for text in given:
            domain, equals, value = text.partition("=")
            number = parse_number(value)
            if not equals or not domain or (number is None and value not in ("max", "min")):
                raise wrong_argument(name, "DOMAIN=MHZ, DOMAIN=max or DOMAIN=min", text)
            clock = value if number is None else number
            if clocks.setdefault(domain, clock) != clock:
                raise WorkloadError(
                    f"{name}: one clock for each domain is required, got "
                    f"{domain}={clock_text(clocks[domain])} and {domain}={value}"
                )
        return tuple(clocks.items())


class ByNetwork(Kind):
    """Names by network."""

    json_type = dict[str, str] | None
    form = "NETWORK=NAME"

    def read(self, value: Any, name: str) -> tuple[tuple[str, str], ...]:
        pairs = value.items() if isinstance(value, Mapping) else [(None, None)]
        if not all(isinstance(word, str) and word for pair in pairs for word in pair):
            raise wrong_argument(name, "a mapping such as {'detect': 'yolo11n'}", value)
        return tuple(pairs)

    def given(self, value: Sequence[tuple[str, str]]) -> dict[str, str]:
        return dict(value)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, str], ...]:
        chosen: dict[str, str] = {}
        for text in given:
            owner, _, word = text.partition("=")
            if not owner or not word or chosen.setdefault(owner, word) != word:
                raise wrong_argument(name, "NETWORK=NAME, one for each network,", text)
        return tuple(chosen.items())


class Pins(Kind):
    """Units of ranges of groups: network, first group, last group, unit."""

    form = "NET:FIRST-LAST=UNIT"

    def read(self, value: Any, name: str) -> tuple[tuple[str, int, int, str], ...]:
        pins = []
        for network, ranges in value.items() if isinstance(value, Mapping) else [(None, None)]:
            for groups, unit in ranges.items() if isinstance(ranges, Mapping) else [(None, None)]:
                match network, groups, unit:
                    case str(), (int(first), int(last)), str():
                        pins.append((network, first, last, unit))
                    case _:
                        words = "network -> {(first group, last group): unit}"
                        raise wrong_argument(name, words, value)
        return tuple(pins)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, int, int, str], ...]:
        pins = []
        for text in given:
            found = re.fullmatch("(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?=([^=]+)", text, re.DOTALL)
            if not found:
                words = "NETWORK:FIRST-LAST=UNIT with group numbers from 0"
                raise wrong_argument(name, words, text)
            first, last = int(found[2]), int(found[3] or found[2])
            if last < first:
                raise WorkloadError(f"{name} {text!r}: the last group lies before the first")
            pins.append((found[1], first, last, found[4]))
        return tuple(pins)


class Sizes(Kind):
    """Sizes of dimensions by name."""

    json_type = dict[str, int] | None
    form = "[NETWORK:]NAME=N"

    def read(self, value: Any, name: str) -> tuple[tuple[str, int], ...]:
        if not isinstance(value, Mapping):
            raise wrong_argument(name, "a mapping such as {'batch': 1}", value)
        size = Whole(1, 10**9)
        return tuple((key, size.read(number, name)) for key, number in value.items())

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, int], ...]:
        sizes = []
        for text in given:
            found = re.fullmatch("(.+)=([0-9]{1,9})", text, re.DOTALL)
            if not found or int(found[2]) < 1:
                raise wrong_argument(name, "NAME=N with N from 1", text)
            sizes.append((found[1], int(found[2])))
        return tuple(sizes)


def exact(value: object) -> Fraction | None:
    """Return a number exactly as it is written in decimal, and None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal) or not math.isfinite(value):
        return None
    if isinstance(value, Rational | Decimal):
        return Fraction(value)
    return Fraction(str(value))


def parse_number(text: str) -> Fraction | None:
    """Return a decimal number, or a quotient of integers such as 1/30, exactly. Return None for any
    other text, and for a number out of range.

    The range is below 10^12, and at most a hundred places.
    """
    if re.fullmatch(r"[0-9]{1,12}/0*[1-9][0-9]{0,11}", text):
        return Fraction(text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    # Looked at before it becomes a fraction: 1e999999999 would take all memory.
    if not number.is_finite() or (number and not -100 <= number.adjusted() < 12):
        return None
    return Fraction(number) if number else Fraction(0)


def clock_text(clock: str | Fraction) -> str:
    """Return a clock as it is written: ``max``, ``min`` or MHz."""
    return clock if isinstance(clock, str) else f"{float(clock):.12g}"


def power(number: Fraction | int) -> str:
    """Return a bound as text, with large and small ones as powers of ten."""
    for exponent in range(6, 13):
        if number in (10**exponent, Fraction(1, 10**exponent)):
            return f"10^{exponent if number > 1 else -exponent}"
    return str(number)


def wrong_argument(name: str, words: str, value: object) -> WorkloadError:
    """Return the error that names an argument, the requirement and the value."""
    return WorkloadError(f"{name}: {words} is required, got {reprlib.repr(value)}")
