"""What an import tells the user."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

PS_PER_MS = 10**9


@dataclass
class ImportReport:
    """``lines``: what was found; ``flagged``: what was left out, and why."""

    lines: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)


def ms_text(time_ps: Fraction) -> str:
    """A time for people."""
    return f"{float(time_ps / PS_PER_MS):.6g} ms"


def short_name(name: str) -> str:
    """A name that may be long, quoted, both of its ends kept."""
    return repr(name if len(name) <= 60 else f"{name[:40]}...{name[-17:]}")
