"""How sure a front is, by as few draws of its costs as pictures, pages and tables can wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import Confidence, choose
from paretosoc.results.problem.execution import FreeRunning
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.text.confidence import describe_costs, describe_limits

if TYPE_CHECKING:
    from paretosoc.dse.api.front import Front

_QUICK_DRAWS = 100
"""They take half a second. Tables, pictures and pages have the same, so that shares agree."""
_FREE_RUNNING_DRAWS = 50
"""Free-running networks take long to simulate: only pages draw costs for them."""


def choice_intervals(front: Front) -> dict[int, list[tuple[float, float]]]:
    """Return the intervals of the choices for the picture. Empty if they are not known."""
    found = front.quick_confidence
    if found is None:
        return {}
    return {entry.member: list(entry.intervals.values()) for entry in found.choices}


def quick_confidence(front: Front) -> Confidence | None:
    """Return the confidence in the choices from few draws. None if errors are not known, or draws
    take long to simulate."""
    from paretosoc.dse.tools.analysis.confidence import confidence as sureness

    if front.costs is None or not len(front) or not front.problem.execution.has_frame:
        return None
    shown = choose(front.numeric).members
    few = replace(front.numeric, members=tuple(front.numeric.members[i] for i in shown))
    try:
        found = sureness(few, front.stated_errors, resolution=0, draws=_QUICK_DRAWS, pairs=False)
    except ResultError:
        return None
    choices = (replace(entry, member=shown[entry.member]) for entry in found.choices)
    return replace(found, choices=tuple(choices))


def describe_sureness(front: Front) -> list[str]:
    """Return how far the costs of a front may be off, and how often limits are kept then."""
    lines = describe_costs(front.numeric, front.costs)
    limits = (limit.kind for limit in constraints_of(front.problem))
    # Draws change no mapping: a limit on transitions is kept in all of them.
    if any(kind.is_asked and kind.figure is not None for kind in limits):
        found = front.quick_confidence
        lines += [] if found is None else describe_limits(found)
    return lines


def page_confidence(front: Front) -> tuple[Confidence, Confidence]:
    """Return the confidence in all members and in the choices, for the page.

    Raises:
        ResultError: if errors are not known, or figures would leave int64.
    """
    from paretosoc.dse.tools.analysis.confidence import confidence_in_all

    free_running = isinstance(front.problem.execution, FreeRunning)
    draws = _FREE_RUNNING_DRAWS if free_running else _QUICK_DRAWS
    return confidence_in_all(front.numeric, front.stated_errors, draws=draws)
