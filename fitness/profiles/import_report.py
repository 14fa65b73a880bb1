"""The report of an import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from paretosoc.common.units import PS_PER_MS


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


def unknown_parts(name: str, parts: Sequence[str]) -> str:
    """Report of a fused row of which only some parts are layers of the network."""
    shown = ", ".join(map(short_name, parts[:3]))
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return (
        f"{short_name(name)}: {shown}{more} not known in the network; all its time goes to the "
        "layers that are"
    )
