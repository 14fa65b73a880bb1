"""Checks of the arguments of public functions, in one table of requirements."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from numbers import Integral, Real
from typing import Any, TypeVar

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError

MAX_COUNT = 10**12
"""Of everything that limits work: no search gets so far, and sums of counts fit into 64 bits."""
MAX_SEED = 2**32 - 1
LEAST_SECONDS, MAX_SECONDS = 0.001, 10**9

E = TypeVar("E", bound=Enum)


@dataclass(frozen=True)
class Requirement:
    """Requirement of an argument. ``words`` stand before "is required" in the message."""

    words: str
    is_met: Callable[[Any], bool]


def _integer(least: int, most: int = MAX_COUNT) -> Requirement:
    def is_met(value: Any) -> bool:
        number = isinstance(value, Integral) and not _is_flag(value)
        return number and least <= int(value) <= most

    return Requirement(f"an integer from {least} to {most}", is_met)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_seconds(value: Any) -> bool:
    number = isinstance(value, Real) and not _is_flag(value)
    return number and math.isfinite(value) and LEAST_SECONDS <= value <= MAX_SECONDS


_FLAG = Requirement("True or False", _is_flag)
_SECONDS = Requirement(f"a number of seconds from {LEAST_SECONDS} to {MAX_SECONDS}", _is_seconds)
_AT_LEAST_0, _AT_LEAST_1, _AT_LEAST_2 = _integer(0), _integer(1), _integer(2)
_CALLABLE = Requirement("a function", callable)

REQUIREMENTS = {
    "branches": _FLAG,
    "check": _FLAG,
    "each_layer": _FLAG,
    "fastest_only": _FLAG,
    "formulation": _FLAG,
    "frames_in_flight": _AT_LEAST_1,
    "free_running": _FLAG,
    "groups": _AT_LEAST_1,
    "ignore_hashes": _FLAG,
    "jobs": _integer(1, 10**4),
    "make": _CALLABLE,
    "match_repeats": _FLAG,
    "max_evaluations": _AT_LEAST_1,
    "max_nodes": _AT_LEAST_1,
    "max_transitions": _AT_LEAST_0,
    "neighbours": _AT_LEAST_0,
    "on_check": _CALLABLE,
    "on_progress": _CALLABLE,
    "overwrite": _FLAG,
    "pictures": _FLAG,
    "population": _AT_LEAST_2,
    "raise_on_failure": _FLAG,
    "rebalanced": _AT_LEAST_0,
    "resume": _FLAG,
    "search_priorities": _FLAG,
    "seed": _integer(0, MAX_SEED),
    "solver_seconds": _SECONDS,
    "stop_when_stalled": _AT_LEAST_1,
    "surrogate_evaluations": _AT_LEAST_0,
    "time_limit_s": _SECONDS,
}
"""By the argument's name, which means the same in every function."""

OPTIONAL = frozenset(
    {
        *("frames_in_flight", "groups", "jobs", "max_evaluations", "max_nodes", "max_transitions"),
        *("on_check", "on_progress", "stop_when_stalled", "time_limit_s"),
    }
)
"""Arguments that may be None."""


def check_arguments(**arguments: object) -> None:
    """Check each argument against :data:`REQUIREMENTS`.

    Raises:
        WorkloadError: on the first that does not meet its requirement. The message names all three.
    """
    for name, value in arguments.items():
        if value is None and name in OPTIONAL:
            continue
        requirement = REQUIREMENTS[name]
        if not requirement.is_met(value):
            raise wrong_argument(name, requirement.words, value)


def check_type(name: str, value: object, types: Any, words: str) -> None:
    """Check that ``value`` is of one of ``types``.

    Raises:
        WorkloadError: if it is not. ``words`` describe the requirement.
    """
    if not isinstance(value, types):
        raise wrong_argument(name, words, value)


def choice(name: str, enum: type[E], value: object) -> E:
    """Return the member of ``enum`` that ``value`` is, or names.

    Raises:
        WorkloadError: if it is none. The message lists the names.
    """
    if isinstance(value, enum):
        return value
    for member in enum:
        if isinstance(value, str) and member.value == value:
            return member
    names = ", ".join(str(member.value) for member in enum)
    raise wrong_argument(name, f"one of {names}", value)


def check_keywords(what: str, unknown: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse keywords that ``what`` does not have.

    Raises:
        WorkloadError: on an unknown keyword, with the nearest names.
    """
    for name in unknown:
        hint = did_you_mean(name, sorted(known), "", most=1)
        raise WorkloadError(f"{what}: there is no argument {name!r}{hint and f' ({hint})'}")


def wrong_argument(name: str, words: str, value: object) -> WorkloadError:
    """Return the error that names an argument, the requirement and the value."""
    return WorkloadError(f"{name}: {words} is required, got {reprlib.repr(value)}")
