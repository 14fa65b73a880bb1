"""Figures and the HTML page of a front, and fronts and members for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.dse.api.result import check_plot
from paretosoc.dse.certificate.summary import describe_proof
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import Confidence, choose
from paretosoc.results.front.front import Member
from paretosoc.results.front.named_members import (
    FASTEST,
    LOWEST_ENERGY,
    choose_member,
    mark_members,
    member_title,
)
from paretosoc.results.problem.execution import FreeRunning
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.text.confidence import describe_costs, describe_limits
from paretosoc.results.text.front import front_table
from paretosoc.results.text.guarantee import GuaranteeFigures, guarantee_lines
from paretosoc.results.text.member_diff import describe_difference, member_lines
from paretosoc.results.text.schedule import SCHEDULE_ROWS, schedule_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from paretosoc.dse.api.front import Front
    from paretosoc.results.plots.picture import Picture
    from paretosoc.results.plots.roofline import Roof
    from paretosoc.results.problem.problem import DesignPoint, Problem

_QUICK_DRAWS = 100
"""They take half a second. Tables, pictures and pages have the same, so that shares agree."""
_FREE_RUNNING_DRAWS = 50
"""Free-running networks take long to simulate: only pages draw costs for them."""
_TWO_ENDS = (FASTEST, LOWEST_ENERGY)


def front_figure(
    what: str, named: Sequence[tuple[str, Front]], members: Sequence[str] = ()
) -> Picture:
    """Return a figure of one or several fronts: see :meth:`dse.Front.figure`."""
    from paretosoc.fitness.execution import scheduled
    from paretosoc.results.plots.energy import draw_energy
    from paretosoc.results.plots.front import draw_front
    from paretosoc.results.plots.fronts import draw_convergence, draw_fronts
    from paretosoc.results.plots.gantt import draw_gantts
    from paretosoc.results.plots.roofline import draw_roofline

    check_plot(what)
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
            choose_member(front, text)
            for text in members or ((FASTEST,) if what == "gantt" else _TWO_ENDS)
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


def front_page(front: Front, platform: str | None) -> tuple[bytes, list[str]]:
    """Return the HTML report of a front: see :meth:`dse.Front.page`."""
    from paretosoc.dse.tools.analysis.confidence import confidence_in_all

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
        free_running = isinstance(front.problem.execution, FreeRunning)
        draws = _FREE_RUNNING_DRAWS if free_running else _QUICK_DRAWS
        try:
            sure = ReportConfidence(
                *confidence_in_all(front.numeric, front.stated_errors, draws=draws)
            )
        except ResultError as error:
            notes.append(f"without error bars: {error}")
    html = report_html(front.numeric, schedule_of, front.costs, texts, sure)
    return html.encode(), notes


def front_views(front: Front, *, width: int, resolution: float | None) -> list[RenderableType]:
    """Return the table and the claims, for a terminal."""
    numeric, source = front.numeric, front.numeric.provenance
    names = ", ".join(network.name for network in front.problem.networks)
    return [
        front_table(numeric, width=width, resolution=resolution, guarantee=_guarantee_figures),
        f"{names} on {source.platform}: {pluralize(len(front), 'member')}, "
        f"{source.effort} by {source.engine}, seed {source.seed}, {source.ended}",
        *_limits(front),
        *describe_sureness(front),
        *describe_proof(numeric),
    ]


def _guarantee_figures(problem: Problem, designs: Sequence[DesignPoint]) -> list[GuaranteeFigures]:
    # Imported here, as most fronts have no tolerance.
    from paretosoc.fitness.guarantee.first_come import guarantee_figures

    return guarantee_figures(problem, designs)


def _limits(front: Front) -> list[str]:
    """Return every limit and the slack that the named members leave."""
    from paretosoc.dse.problem.constraint_status import limit_states

    marks = mark_members(front.numeric)
    designs = [front.numeric.members[index].design for index in marks]
    lines = []
    for states in zip(*limit_states(front.problem, designs), strict=True):
        named = zip(marks.values(), states, strict=True)
        rest = "; ".join(f"{' and '.join(names)} {state.margin}" for names, state in named)
        lines.append(f"Limit: {states[0].limit}: {rest}")
    return lines


def member_views(front: Front, which: int | str, *, all_rows: bool) -> list[RenderableType]:
    """Return one member for a terminal: mapping, clocks, schedule and deployment formats."""
    from rich.text import Text

    from paretosoc.dse.problem.constraint_status import limit_states

    numeric, problem = front.numeric, front.problem
    member = front[which]
    lines = [
        f"number format: {numeric.provenance.precision.upper()}",
        *member_lines(problem, member.numeric),
    ]
    if numeric.robust is not None and member.numeric.robust is not None:
        lines += [
            f"{numeric.robust.measure} of {objective.label(problem)}: {objective.text(value)}"
            for objective, value in zip(problem.objectives, member.numeric.robust, strict=True)
        ]
    if problem.tolerance_permille is not None:
        (figures,) = _guarantee_figures(problem, [member.numeric.design])
        lines += guarantee_lines(problem, figures)
    (states,) = limit_states(problem, [member.numeric.design])
    lines += [f"limit: {state.describe()}" for state in states]
    fastest = choose_member(numeric, FASTEST)
    if member.index != fastest:
        words = describe_difference(problem, numeric.members[fastest], member.numeric)
        lines.append(f"against the fastest, member {fastest}: {words}")
    lines += _deployable(front, member.index)
    most = None if all_rows else SCHEDULE_ROWS
    rest = as_written("all_rows", value=True, command="--all")
    views: list[RenderableType] = [
        Text(member_title(numeric, member.index).capitalize(), style="bold"),
        *(Text(line) for line in lines),
        "",
        schedule_table(problem, member.scheduled.schedule, most=most, rest=rest),
    ]
    if numeric.certificate is not None and member.index in numeric.certificate.members:
        views += dict.fromkeys((front.claims[0], front.claims[-1]))
    return views


def _deployable(front: Front, index: int) -> list[str]:
    """Return the formats that :func:`dse.deploy` can write for a member, with reasons against the
    others. Return nothing if the board has no name."""
    # Imported here: a search needs no deployments.
    from paretosoc.dse.tools.deploy.deploy import fitting_targets
    from paretosoc.dse.tools.deploy.searched_inputs import searched_platform
    from paretosoc.results.deploy.deployment import Deployment

    try:
        chip = searched_platform(front.numeric)
    except (PlatformError, ResultError):
        return []
    reasons = fitting_targets(Deployment(front.numeric, index, chip, front.costs))
    able = ", ".join(name for name, reason in reasons.items() if reason is None)
    return [
        f"can be deployed to: {able or 'nothing'}",
        *(f"not to {name}: {reason}" for name, reason in reasons.items() if reason),
    ]
