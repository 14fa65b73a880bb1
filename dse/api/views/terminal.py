"""A front and its members for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.dse.api.views.sureness import describe_sureness
from paretosoc.dse.certificate.summary import describe_proof
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.named_members import FASTEST, choose_member, mark_members, member_title
from paretosoc.results.text.front import front_table
from paretosoc.results.text.member_diff import describe_difference, member_lines
from paretosoc.results.text.rates import GuaranteeFigures, guarantee_lines
from paretosoc.results.text.schedule import SCHEDULE_ROWS, schedule_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from paretosoc.dse.api.front import Front
    from paretosoc.results.problem.problem import DesignPoint, Problem


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
