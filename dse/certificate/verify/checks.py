"""What a check of a result folder says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What a check says of a claim."""

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
        """Whether it was checked, and is true."""
        return self.verdict is Verdict.HOLDS


def holds(name: str, detail: str) -> Check:
    """A claim that was checked and is true."""
    return Check(name, Verdict.HOLDS, detail)


def fails(name: str, detail: str) -> Check:
    """A claim that is false."""
    return Check(name, Verdict.FAILS, detail)


def not_checked(name: str, detail: str) -> Check:
    """A claim that cannot be checked, or is not."""
    return Check(name, Verdict.NOT_CHECKED, detail)
