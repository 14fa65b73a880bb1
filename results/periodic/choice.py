"""A schedule of a periodic result by its number or its name."""

from __future__ import annotations

import re

from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.results.errors import ResultError
from paretosoc.results.io.plural import pluralize
from paretosoc.results.periodic.periodic import PeriodicSchedule
from paretosoc.results.periodic.result import PeriodicResult
from paretosoc.results.periodic.table import least_period_ps, least_prologue_periods

FASTEST, LOWEST_ENERGY, SMALLEST = "fastest", "lowest-energy", "smallest"


def choose_schedule(result: PeriodicResult, text: str) -> int:
    """Return the index of a member: a number from 0, or ``fastest`` (least latency),
    ``lowest-energy`` (least energy), ``smallest`` (fewest engines). The first of equals counts.

    Raises:
        ResultError: if there is no such member. The message lists the members.
    """
    count = len(result.members)
    if re.fullmatch(r"[0-9]{1,9}", text):
        if int(text) >= count:
            raise ResultError(f"member {text}: there are members 0 to {count - 1}")
        return int(text)
    marks = _marks(result)
    if text not in marks:
        raise ResultError(
            f"member {text!r}: a number from 0 to {count - 1} or a mark ({', '.join(marks)})"
        )
    return marks[text]


def _marks(result: PeriodicResult) -> dict[str, int]:
    rows = [result.objectives(schedule) for schedule in result.members]
    return {
        name: min(range(len(rows)), key=lambda index: rows[index][column])
        for column, name in ((0, FASTEST), (2, LOWEST_ENERGY), (1, SMALLEST))
    }


def schedule_title(result: PeriodicResult, index: int) -> str:
    """Return ``member 0 (fastest): 64 engines``."""
    names = [name for name, place in _marks(result).items() if place == index]
    marks = f" ({', '.join(names)})" if names else ""
    return f"member {index}{marks}: {result.members[index].array.engines} engines"


def figure_lines(schedule: PeriodicSchedule, inferences: int) -> list[tuple[str, str]]:
    """Return the figures of a schedule as pairs of name and value."""
    many = pluralize(inferences, "inference")
    above = schedule.period_ps / least_period_ps(schedule) - 1
    lines = [
        ("method", schedule.method),
        ("engines", str(schedule.array.engines)),
        ("copies of the graph a period", str(schedule.copies)),
        ("period", f"{schedule.period_ps / PS_PER_MS:.6g} ms, {above:.2%} above the bound"),
        ("use of the engines", f"{float(schedule.utilisation):.2%}"),
        (
            "prologue",
            f"{pluralize(schedule.prologue_periods, 'period')}, "
            f"{schedule.prologue_ps / PS_PER_MS:.6g} ms",
        ),
        (
            f"latency of {many}",
            f"{schedule.latency_ps(inferences) / PS_PER_S:.6g} s",
        ),
        (f"energy of {many}", f"{schedule.energy_fj(inferences) / FJ_PER_J:.6g} J"),
        (
            "transfers kept in caches",
            f"{len(schedule.cached)} of {len(schedule.graph.transfers) * schedule.copies}",
        ),
    ]
    if schedule.prologue_periods:
        name, value = lines[5]
        lines[5] = (name, f"{value}; any placement: at least {least_prologue_periods(schedule)}")
    return lines
