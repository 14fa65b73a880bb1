"""Results of checks of a result folder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

SOLVER_SECONDS = 600.0
"""By default a solver has this long for one claim."""


class Checker(Enum):
    """The form of the checker of members and trees."""

    PLAIN = "plain"
    """Interpreted: Python integers, nothing compiled."""
    FAST = "fast"
    """Compiled, on all cores."""


class Verdict(Enum):
    """The verdict of a check on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_CHECKED = "not checked"
    """The folder claims it, and nothing in the folder shows it."""


@dataclass(frozen=True)
class Check:
    """One claim of a folder, and whether it holds."""

    name: str
    verdict: Verdict
    detail: str

    @property
    def holds(self) -> bool:
        """Return whether it was checked, and is true."""
        return self.verdict is Verdict.HOLDS


def holds(name: str, detail: str) -> Check:
    """Return a claim that was checked and is true."""
    return Check(name, Verdict.HOLDS, detail)


def fails(name: str, detail: str) -> Check:
    """Return a claim that is false."""
    return Check(name, Verdict.FAILS, detail)


def not_checked(name: str, detail: str) -> Check:
    """Return a claim that cannot be checked, or is not."""
    return Check(name, Verdict.NOT_CHECKED, detail)
