"""The description of one option for every part of the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from typing import Any

from paretosoc.common.options import as_written
from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import Kind, Quantity, wrong_argument
from paretosoc.dse.inputs.kinds_by_name import PerName
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.execution import FreeRunning, Rates
from paretosoc.results.problem.limits import UNITS, LimitSpec


class Fits(Enum):
    """Workloads that an option has a meaning for."""

    ALL = ""
    COMMON_FRAME = "Not with free-running networks."
    FREE_RUNNING = "With free-running networks."
    RATES = "With rates of networks."


_OWNERS = {"NETWORK": "network", "POOL": "memory pool"}


@dataclass(frozen=True)
class Field:
    """An option: everything that the program says about it. That of a limit has its ``spec``.

    ``option``: its name on the command line, if not that of the library. For a limit without an
    option of its own it is ``--limit NAME``. ``axis``: the key of a campaign file that lists
    values. ``starts_others``: runs of a campaign that differ in this alone have the same rows, so
    that the front of one can start another, as those that differ in a limit.
    """

    kind: Kind
    help: str
    option: str = ""
    axis: str = ""
    starts_others: bool = False
    fits: Fits = Fits.ALL
    spec: LimitSpec | None = None
    note: str = ""
    default: str = ""
    name: str = ""

    def named(self, name: str) -> Field:
        """Return the field of an option with this name in the library. Of a limit its spec says
        which workloads it fits."""
        option = self.option or f"--{name.replace('_', '-')}"
        if self.spec is None:
            return replace(self, name=name, option=option)
        fits = Fits.ALL if FreeRunning in self.spec.models else Fits.COMMON_FRAME
        if len(self.spec.models) == 1:
            fits = Fits.RATES if self.spec.models == (Rates,) else Fits.FREE_RUNNING
        return replace(self, name=name, option=option, fits=fits, starts_others=True)

    def as_written(self, value: object = None) -> str:
        """Return the option, with a value or alone, as the caller writes it."""
        return as_written(self.name, value, command=self.option)

    @property
    def limit(self) -> str:
        """Return the name under which ``--limit`` takes it."""
        return self.option.removeprefix("--limit ").removeprefix("--")

    @property
    def has_option(self) -> bool:
        """Return whether it has an option of its own on the command line."""
        return not self.option.startswith("--limit ")

    def strictest(self, values: Iterable[Any]) -> Any:
        """Return the strictest of the values that are not None, or None. A word, such as ``any``,
        is no limit: the first stands if there is no number."""
        named = [value for value in values if value is not None]
        given = [value for value in named if not isinstance(value, str)]
        if not given:
            return named[0] if named else None
        return max(given) if self.spec is not None and self.spec.is_least else min(given)

    def figure(self, value: Fraction | int | None) -> int | None:
        """Return a limit in the integer unit of the problem's field, rounded to the strict side, or
        int64's largest if nothing could exceed it."""
        if value is None:
            return None
        assert self.spec is not None, "a limit"
        number = value * UNITS[self.spec.unit][0] / Fraction(self.spec.scale)
        each = self.kind.each if isinstance(self.kind, PerName) else self.kind
        least = 1 if isinstance(each, Quantity) and each.least > 0 else 0
        return min(max(least, ceil(number) if self.spec.is_least else floor(number)), INT64_MAX)

    @property
    def limit_form(self) -> str:
        """Return the form of a value of ``--limit``: ``max-jitter[:NETWORK]=MS``."""
        if isinstance(self.kind, PerName):
            return f"{self.limit}[:{self.kind.of}]={self.kind.each.metavar}"
        return f"{self.limit}={getattr(self.kind, 'metavar', 'N')}"

    @property
    def description(self) -> str:
        """Return the description, the workloads that the option fits, and its default."""
        return self._described("")

    @property
    def option_help(self) -> str:
        """Return the help of the option."""
        form = ""
        if isinstance(self.kind, PerName):
            form = f", for one {_OWNERS[self.kind.of]} or all: {self.kind.form}"
        often = "Repeatable; the strictest holds." if self.spec is not None else "Repeatable."
        return self._described(form, often if self.repeatable else "")

    @property
    def key_help(self) -> str:
        """Return the description of a key of a campaign file."""
        form = ", separated by commas" if self.kind.argument == list[str] else ""
        if isinstance(self.kind, PerName):
            form = f"; or {self.kind.of}={self.kind.each.metavar}{form}"
        return self._described(form)

    def _described(self, form: str, often: str = "") -> str:
        default = f"[default: {self.default}]" if self.default else ""
        parts = (f"{self.help}{form}.", often, self.fits.value, self.note, default)
        return " ".join(filter(None, parts))

    @property
    def repeatable(self) -> bool:
        """Return whether the command takes it several times. It takes all limits so."""
        return self.spec is not None or self.kind.argument == list[str]

    def parse(self, given: Any, name: str) -> Any:
        """Return the value of an option given on the command line. The strictest of several values
        of a limit holds.

        Raises:
            WorkloadError: on a text of another form.
        """
        if self.kind.argument == list[str] or not isinstance(given, list):
            return self.kind.parse(given, name)
        return self.strictest(self.kind.parse(value, name) for value in given)

    def parse_key(self, value: Any, name: str) -> Any:
        """Return the value of a key of a campaign file as the program has it.

        Raises:
            WorkloadError: on a text of another form.
        """
        repeated = self.kind.argument == list[str]
        return self.kind.parse(split(value) if repeated else value, name)


def split(text: str) -> list[str]:
    """Return the parts of ``latency, energy``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_limit(text: str, limits: Mapping[str, Field]) -> tuple[str, Any]:
    """Return the name and the value of ``NAME[:NETWORK]=VALUE``.

    Raises:
        WorkloadError: on a name that ``limits`` does not have, or a value that is not of its kind.
    """
    place, _, number = text.rpartition("=")
    name, colon, owner = place.partition(":")
    if name not in limits:
        hint = did_you_mean(name, limits, "", most=1)
        raise WorkloadError(
            f"--limit: NAME[:NETWORK]=VALUE is required, with NAME one of {', '.join(limits)}, "
            f"got {text!r}" + (hint and f"; {hint}")
        )
    kind: Any = limits[name].kind
    each = kind.each if isinstance(kind, PerName) else kind
    value = each.of_text(number)
    if value is None or bool(colon) != bool(owner) or (colon and each is kind):
        form = limits[name].limit_form.removesuffix(each.metavar)
        raise wrong_argument("--limit", f"{form}{each.bounds}", text)
    return name, value if each is kind else ((owner or None, value),)
