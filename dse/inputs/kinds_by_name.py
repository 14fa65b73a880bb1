"""Kinds of values that are names, or have names: of networks, units, clocks, dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import clock_text, exact, parse_with_unit
from paretosoc.dse.inputs.kinds import (
    MAX_NUMBER,
    Kind,
    Quantity,
    Whole,
    WholeOr,
    not_one,
    texts_by_name,
    wrong_argument,
)
from paretosoc.results.problem.own_objective import OwnObjective, remember


class ByName(Kind):
    """Values by name, as pairs of both."""

    def given(self, value: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
        return dict(value)


def items_by_name(value: Any, name: str, example: dict[str, Any], each: type = object) -> list[Any]:
    """Return the items of a mapping from texts to values of the type ``each``.

    Raises:
        WorkloadError: on anything else.
    """
    pairs = list(value.items()) if isinstance(value, Mapping) else [(None, None)]
    if not all(isinstance(key, str) and isinstance(one, each) for key, one in pairs):
        raise wrong_argument(name, f"a mapping such as {example}", value)
    return pairs


Pinned = tuple[str, int, int | None, str]
"""Network, first group, last group or None for the network's last, and their unit."""


@dataclass(frozen=True)
class PerName(ByName):
    """A number for all networks or memory pools, or numbers by name."""

    each: Quantity | Whole | WholeOr
    of: str = "NETWORK"

    @property
    def json_type(self) -> Any:
        if isinstance(self.each, WholeOr):
            return int | str | dict[str, int | str] | None
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

    def schema(self) -> dict[str, Any]:
        number = "number" if isinstance(self.each, Quantity) else "integer"
        each = self.each.each if isinstance(self.each, WholeOr) else self.each
        return super().schema() | each.schema() | {"type": [number, "string", "null"]}


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
        if any(given in ([], ()) for given in by_name.values()):
            words = f"an integer {self.each.words}, or several,"
            raise wrong_argument(name, words, value)
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
class PerUnit(ByName):
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


FIXES = "DOMAIN=MHZ, DOMAIN=max, DOMAIN=min, NETWORK=UNIT or NETWORK:FIRST-LAST=UNIT"


def is_pin(text: str) -> bool:
    """Return whether a text of ``--fix`` states the unit of groups, not the clock of a domain."""
    owner, _, value = text.partition("=")
    return ":" in owner or (value[:1].isalpha() and value not in ("max", "min"))


class Clocks(ByName):
    """A clock of each domain: MHz, ``max`` or ``min``."""

    json_type = dict[str, float | str] | None
    form = "DOMAIN=MHZ"

    def read(self, value: Any, name: str) -> tuple[tuple[str, str | Fraction], ...]:
        clocks = []
        for domain, clock in items_by_name(value, name, {"gpu": 1377}):
            number = exact(clock)
            fits = clock in ("max", "min") if number is None else abs(number) <= MAX_NUMBER
            if not fits:
                raise wrong_argument(name, "max, min or a frequency in MHz for each domain", clock)
            clocks.append((domain, clock if number is None else number))
        return tuple(clocks)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, str | Fraction], ...]:
        clocks: dict[str, str | Fraction] = {}
        for text in given:
            domain, equals, value = text.partition("=")
            number = parse_with_unit(value, "MHZ")
            if not equals or not domain or (number is None and value not in ("max", "min")):
                raise wrong_argument(name, f"{FIXES} (or with a unit: MHz, GHz)", text)
            clock = value if number is None else number
            if clocks.setdefault(domain, clock) != clock:
                other = f"{domain}={clock_text(clocks[domain])}"
                raise not_one(name, "clock for each domain", other, text)
        return tuple(clocks.items())


class ByNetwork(ByName):
    """Names by network."""

    json_type = dict[str, str] | None
    form = "NETWORK=NAME"

    def read(self, value: Any, name: str) -> tuple[tuple[str, str], ...]:
        return tuple(items_by_name(value, name, {"detect": "yolo11n"}, str))

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, str], ...]:
        return tuple(texts_by_name(given, name, self.form).items())


class Pins(Kind):
    """Units of networks or of ranges of their groups: network, first group, last group, unit. None
    for the last group: all groups from the first on."""

    json_type = dict[str, str] | None
    form = "NET[:FIRST-LAST]=UNIT"

    def read(self, value: Any, name: str) -> tuple[Pinned, ...]:
        pins: list[Pinned] = []
        for network, given in value.items() if isinstance(value, Mapping) else [(None, None)]:
            ranges = given if isinstance(given, Mapping) else {(0, None): given}
            for groups, unit in ranges.items():
                match network, groups, unit:
                    case str(), (int(first), int() | None as last), str() if (
                        0 <= first <= (first if last is None else last)
                    ):
                        pins.append((network, first, last, unit))
                    case _:
                        words = "network -> unit, or -> {(first group, last group): unit}"
                        order = "0 <= first group <= last group"
                        raise wrong_argument(name, f"{words} with {order}", value)
        return tuple(pins)

    def parse(self, given: Sequence[str], name: str) -> tuple[Pinned, ...]:
        pins: list[Pinned] = []
        for text in given:
            found = re.fullmatch(
                "([^:=]+|.+(?=:[0-9]))(?::([0-9]{1,9})(?:-([0-9]{1,9}))?)?=([^=]+)", text, re.DOTALL
            )
            if not found:
                words = f"{FIXES} with group numbers from 0"
                raise wrong_argument(name, words, text)
            first = int(found[2] or 0)
            last = int(found[3] or found[2]) if found[2] else None
            if last is not None and last < first:
                raise WorkloadError(f"{name} {text!r}: the last group lies before the first")
            pins.append((found[1], first, last, found[4]))
        return tuple(pins)


class Sizes(ByName):
    """Sizes of dimensions by name."""

    json_type = dict[str, int] | None
    form = "[NETWORK:]NAME=N"

    def read(self, value: Any, name: str) -> tuple[tuple[str, int], ...]:
        read, pairs = Whole(1, 10**9).read, items_by_name(value, name, {"batch": 1})
        return tuple((key, read(size, f"{name} of {key!r}")) for key, size in pairs)

    def parse(self, given: Sequence[str], name: str) -> tuple[tuple[str, int], ...]:
        sizes: dict[str, int] = {}
        for text in given:
            found = re.fullmatch("(.+)=([0-9]{1,9})", text, re.DOTALL)
            if not found or int(found[2]) < 1:
                raise wrong_argument(name, "NAME=N with N from 1", text)
            key, size = found[1], int(found[2])
            if sizes.setdefault(key, size) != size:
                raise not_one(name, "size for each dimension", f"{key}={sizes[key]}", text)
        return tuple(sizes.items())
