"""Pictures of one or several fronts, and the HTML page of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretosoc.dse.api.result import MEMBERS, check_plot
from paretosoc.dse.api.views.sureness import choice_intervals, page_confidence
from paretosoc.dse.inputs.arguments import check_list
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Member
from paretosoc.results.front.named_members import (
    FASTEST,
    LOWEST_ENERGY,
    choose_member,
    member_title,
)

if TYPE_CHECKING:
    from paretosoc.dse.api.front import Front
    from paretosoc.results.plots.picture import Picture
    from paretosoc.results.plots.roofline import Roof


_TWO_ENDS = (FASTEST, LOWEST_ENERGY)


def front_figure(
    what: str, named: Sequence[tuple[str, Front]], members: Sequence[int | str] = ()
) -> Picture:
    """Return a figure of one or several fronts: see :meth:`dse.Front.figure`."""
    from paretosoc.fitness.execution import scheduled
    from paretosoc.results.plots.energy import draw_energy
    from paretosoc.results.plots.front import draw_front
    from paretosoc.results.plots.fronts import draw_convergence, draw_fronts
    from paretosoc.results.plots.gantt import draw_gantts
    from paretosoc.results.plots.roofline import draw_roofline

    check_plot(what)
    check_list("members", members, MEMBERS)
    if not named:
        raise wrong_argument("named", "one front at least", named)
    fronts = [(name, front.numeric) for name, front in named]
    if what == "front":
        if len(fronts) > 1:
            return draw_fronts(fronts).picture()
        return draw_front(fronts[0][1], choice_intervals(named[0][1])).picture()
    if what == "convergence":
        return draw_convergence(fronts).picture()
    chosen = [
        (
            member_title(front, index) if len(fronts) == 1 else f"{name}, member {index}",
            n,
            front.members[index],
        )
        for n, (name, front) in enumerate(fronts)
        for index in dict.fromkeys(
            choose_member(front, which)
            for which in members or ((FASTEST,) if what == "gantt" else _TWO_ENDS)
        )
    ]
    if what == "roofline":
        roofs = [(title, _rooflines(named[n][1], member)) for title, n, member in chosen]
        return draw_roofline(roofs).picture()
    of_fronts = [(title, fronts[n][1].problem, member) for title, n, member in chosen]
    if what == "energy":
        return draw_energy(of_fronts).picture()
    schedules = [(title, scheduled(problem, member)) for title, problem, member in of_fronts]
    return draw_gantts(schedules).picture()


def _rooflines(front: Front, member: Member) -> list[Roof]:
    # Imported here: a search needs no deployments.
    from paretosoc.dse.tools.analysis.roofline import rooflines
    from paretosoc.dse.tools.deploy.searched_inputs import searched_platform
    from paretosoc.results.deploy.deployment import require_origins

    chip = searched_platform(front.numeric)
    return rooflines(front.problem, member, require_origins(front.costs), chip)


def front_page(front: Front, platform: str | None) -> tuple[bytes, list[str]]:
    """Return the HTML report of a front: see :meth:`dse.Front.page`."""
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
        try:
            sure = ReportConfidence(*page_confidence(front))
        except ResultError as error:
            notes.append(f"without error bars: {error}")
    html = report_html(front.numeric, schedule_of, front.costs, texts, sure)
    return html.encode(), notes
