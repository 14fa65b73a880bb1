"""Checks of the arguments of public functions, in one table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import exact
from paretosoc.dse.inputs.kinds import Flag, Whole, wrong_argument

MAX_COUNT = 10**12
"""Maximum of every count that limits work: no search gets so far, and sums of counts fit into 64
bits."""
MAX_SIZE = 1_000_000
"""Maximum of every option for a size or number, above all of the parts of a network."""
MAX_SEED = 2**32 - 1
MAX_DRAWS = 100_000
LEAST_SECONDS, MAX_SECONDS = Fraction(1, 1000), 10**9


@dataclass(frozen=True)
class _Checked:
    """A value of which ``words`` are true if it ``fits``."""

    words: str
    fits: Callable[[Any], bool]

    def read(self, value: Any, name: str) -> Any:
        if not self.fits(value):
            raise wrong_argument(name, self.words, value)
        return value


def _is_time(value: Any) -> bool:
    number = exact(value)
    return number is not None and LEAST_SECONDS <= number <= MAX_SECONDS


def _is_measure(value: Any) -> bool:
    from paretosoc.results.front.front import MEASURE

    return isinstance(value, str) and bool(re.fullmatch(MEASURE, value))


_SECONDS = _Checked(f"a number of seconds from {float(LEAST_SECONDS)} to {MAX_SECONDS}", _is_time)
_FUNCTION = _Checked("a function", callable)
_COUNT, _ANY_COUNT = Whole(1, MAX_COUNT), Whole(0, MAX_COUNT)
_OPTIONAL: dict[str, Whole | _Checked] = {
    "jobs": Whole(1, 10**4),
    "max_evaluations": _COUNT,
    "max_nodes": _COUNT,
    "on_check": _FUNCTION,
    "on_progress": _FUNCTION,
    "robust": _Checked("mean, pN or cvarN with an integer N from 1 to 99", _is_measure),
    "stop_when_stalled": _COUNT,
    "time_limit_s": _SECONDS,
}
"""Arguments that may be None, by name. A name means the same in every function."""
ARGUMENTS: dict[str, Flag | Whole | _Checked] = {
    **_OPTIONAL,
    "baselines": Flag(),
    "check": Flag(),
    "draws": Whole(1, MAX_DRAWS),
    "fastest_only": Flag(),
    "formulation": Flag(),
    "ignore_hashes": Flag(),
    "make": _FUNCTION,
    "neighbours": _ANY_COUNT,
    "overwrite": Flag(),
    "pictures": Flag(),
    "prove": Flag(),
    "population": Whole(2, MAX_COUNT),
    "raise_on_failure": Flag(),
    "rebalanced": _ANY_COUNT,
    "report": Flag(),
    "seed": Whole(0, MAX_SEED),
    "solver_seconds": _SECONDS,
    "surrogate_evaluations": _ANY_COUNT,
}


def check_arguments(**arguments: object) -> None:
    """Check each argument against :data:`ARGUMENTS`.

    Raises:
        WorkloadError: on the first that does not meet its requirement. The message names all three.
    """
    for name, value in arguments.items():
        if value is not None or name not in _OPTIONAL:
            ARGUMENTS[name].read(value, name)


def check_type(name: str, value: object, types: Any, words: str) -> None:
    """Check that ``value`` is of one of ``types``.

    Raises:
        WorkloadError: if it is not. ``words`` describe the requirement.
    """
    if not isinstance(value, types):
        raise wrong_argument(name, words, value)


def check_list(name: str, value: object, words: str) -> None:
    """Check that ``value`` is a sequence, and no text.

    Raises:
        WorkloadError: if it is not. ``words`` describe the requirement.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise wrong_argument(name, words, value)


def path_of(value: Any, name: str = "folder") -> Path:
    """Return the path of a folder or file.

    Raises:
        WorkloadError: if it is none.
    """
    check_type(name, value, str | Path, "a path")
    return Path(value)


def check_keywords(what: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that ``what`` does not have.

    Raises:
        WorkloadError: on an unknown keyword, with the nearest names.
    """
    for name in unknown:
        hint = did_you_mean(name, sorted(known), "", most=1)
        raise WorkloadError(f"{what}: there is no argument {name!r}{hint and f' ({hint})'}")
