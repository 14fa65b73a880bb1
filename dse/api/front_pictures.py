"""Figures and the HTML page of a front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paretosoc.dse.api.result import check_plot
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.confidence import DRAWS
from paretosoc.results.front.front import Member
from paretosoc.results.front.named_members import (
    FASTEST,
    LOWEST_ENERGY,
    choose_member,
    member_title,
)
from paretosoc.results.problem.execution import FreeRunning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from paretosoc.dse.api.front import Front
    from paretosoc.results.plots.roofline import Roof

_PAGE_MEMBERS = 200_000
"""Members times draws that a page waits for."""
_PAGE_DRAWS = 50
"""The fewest. Free-running networks, which take long to simulate, have no more."""
_PICTURE_DRAWS = 100
"""They take half a second."""
_TWO_ENDS = (FASTEST, LOWEST_ENERGY)


def front_figure(
    what: str, named: Sequence[tuple[str, Front]], members: Sequence[str] = ()
) -> Figure:
    """Return a figure of one or several fronts: see :meth:`dse.Front.figure`."""
    from paretosoc.fitness.execution import scheduled
    from paretosoc.results.plots.convergence import draw_convergence
    from paretosoc.results.plots.energy import draw_energy
    from paretosoc.results.plots.front import draw_front
    from paretosoc.results.plots.fronts import draw_fronts
    from paretosoc.results.plots.gantt import draw_gantts
    from paretosoc.results.plots.roofline import draw_roofline

    check_plot(what)
    fronts = [(name, front.numeric) for name, front in named]
    if what == "front":
        if len(fronts) > 1:
            return draw_fronts(fronts)
        return draw_front(fronts[0][1], choice_intervals(named[0][1]))
    if what == "convergence":
        return draw_convergence(fronts)
    chosen = [
        (
            member_title(front, index) if len(fronts) == 1 else f"{name}, member {index}",
            n,
            front.members[index],
        )
        for n, (name, front) in enumerate(fronts)
        for index in dict.fromkeys(
            choose_member(front, text)
            for text in members or ((FASTEST,) if what == "gantt" else _TWO_ENDS)
        )
    ]
    if what == "roofline":
        return draw_roofline(
            [(title, _rooflines(named[n][1], member)) for title, n, member in chosen]
        )
    of_fronts = [(title, fronts[n][1].problem, member) for title, n, member in chosen]
    if what == "energy":
        return draw_energy(of_fronts)
    return draw_gantts(
        [(title, scheduled(problem, member)) for title, problem, member in of_fronts]
    )


def _rooflines(front: Front, member: Member) -> list[Roof]:
    # Imported here: a search needs no deployments.
    from paretosoc.dse.tools.analysis.roofline import rooflines
    from paretosoc.dse.tools.deploy.searched_inputs import searched_platform
    from paretosoc.results.deploy.deployment import require_origins

    chip = searched_platform(front.numeric)
    return rooflines(front.problem, member, require_origins(front.costs), chip)


def choice_intervals(front: Front) -> dict[int, list[tuple[float, float]]]:
    """Return the intervals of the choices for the picture. Empty if they are not known, or take
    long to simulate."""
    from paretosoc.dse.tools.analysis.confidence import confidence as sureness

    if front.costs is None or not len(front) or not front.problem.execution.has_frame:
        return {}
    shown = choose(front.numeric).members
    few = replace(front.numeric, members=tuple(front.numeric.members[i] for i in shown))
    try:
        found = sureness(few, front.stated_errors, resolution=0, draws=_PICTURE_DRAWS, pairs=False)
    except ResultError:
        return {}
    return {
        i: list(entry.intervals.values()) for i, entry in zip(shown, found.choices, strict=True)
    }


def front_page(front: Front, platform: str | None) -> tuple[bytes, list[str]]:
    """Return the HTML report of a front: see :meth:`dse.Front.page`."""
    from paretosoc.dse.tools.analysis.confidence import confidence as sureness

    # Imported here: a search needs no deployments.
    from paretosoc.dse.tools.deploy.deploy import deployment_texts
    from paretosoc.dse.tools.deploy.searched_inputs import platform_or_searched
    from paretosoc.fitness.execution import schedule_of
    from paretosoc.results.deploy.deployment import Deployment
    from paretosoc.results.export.report import report_html
    from paretosoc.results.export.report_data import ReportConfidence

    notes: list[str] = []
    texts: list[dict[str, str]] = []
    try:
        chip = platform_or_searched(platform, front.numeric)
        texts = deployment_texts(
            [Deployment(front.numeric, index, chip, front.costs) for index in range(len(front))]
        )
    except (PlatformError, ResultError) as error:
        if platform is not None:
            raise
        notes.append(f"without deployment: {error}")
    sure = None
    if front.costs is not None and len(front):
        # As many draws as take some seconds: intervals and regrets are read to two digits.
        draws = min(DRAWS // 2, max(_PAGE_DRAWS, _PAGE_MEMBERS // len(front)))
        if isinstance(front.problem.execution, FreeRunning):
            draws = _PAGE_DRAWS
        try:
            of_members = sureness(
                front.numeric, front.stated_errors, resolution=0, draws=draws, pairs=False
            )
            sure = ReportConfidence(of_members, front.confidence(draws=draws))
        except ResultError as error:
            notes.append(f"without error bars: {error}")
    html = report_html(front.numeric, schedule_of, front.costs, texts, sure)
    return html.encode(), notes
