"""``dse evaluate``: evaluation of a single mapping."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.option_groups import ExploreGiven, Given
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import open_console, print_json, show
from paretosoc.dse.errors import WorkloadError

if TYPE_CHECKING:
    from paretosoc.dse.space.mapping_file import UserMapping
    from paretosoc.dse.space.members import Evaluated
    from paretosoc.results.costs.cost_origins import CostOrigins
    from paretosoc.results.problem.problem import Problem


INFEASIBLE = 3


def evaluate(
    networks: Annotated[
        list[str] | None,
        Argument(help="Networks, as for 'dse explore'. With --from, those of that folder."),
    ] = None,
    platform: Annotated[
        str | None,
        Option("--platform", "-p", help="Platform: a name (see 'dse platforms') or a JSON file."),
    ] = None,
    mapping: Annotated[
        Path | None,
        Option(help="Mapping and clocks (JSON), or what 'dse show DIR --member N --json' prints."),
    ] = None,
    source: Annotated[
        Path | None, Option("--from", help="Evaluate a member of this result folder.")
    ] = None,
    member: opt.MemberName = "fastest",
    *,
    given: ExploreGiven,
    gantt: Annotated[
        Path | None, Option(help="Plot the schedule to this .svg or .png file.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> int:
    """Show the objectives of a mapping. Exit status 3 if it breaks a constraint."""
    from paretosoc.dse.inputs.output import check_output_file
    from paretosoc.dse.space.mapping_file import row_of_mapping
    from paretosoc.dse.space.members import evaluate_row, evaluated_document

    if (mapping is None) == (source is None):
        got = "both" if source else "neither"
        raise WorkloadError(f"one of --mapping FILE and --from DIR is required, got {got}")
    if source is None:
        refuse_options("needs --from", "member")
    if not networks and source is None:
        raise WorkloadError("networks: at least one is needed, got none")
    if networks and platform is None:
        raise WorkloadError("--platform is required with networks")
    if not networks and (platform is not None or any(given.values())):
        raise WorkloadError(
            "--from without networks evaluates the problem of that folder as it is; "
            "other options need networks and a platform"
        )
    check_output_file(gantt, option="--gantt", overwrite=force, suffixes=(".svg", ".png"))
    problem, origins, wanted = _inputs(networks, platform, mapping, source, member, given)
    result = evaluate_row(problem, row_of_mapping(wanted, problem, origins))
    if gantt is not None:
        from paretosoc.common.files import replace_file
        from paretosoc.results.plots.gantt import draw_gantts
        from paretosoc.results.plots.style import PICTURE_MAKERS

        picture = draw_gantts([("", result.scheduled)]).picture()
        replace_file(gantt, PICTURE_MAKERS[gantt.suffix](picture))
    if as_json:
        print_json(evaluated_document(result))
    else:
        _print(result)
    return 0 if result.feasible else INFEASIBLE


def _inputs(
    networks: list[str] | None,
    platform: str | None,
    mapping: Path | None,
    source: Path | None,
    member: str,
    given: Given,
) -> tuple[Problem, CostOrigins | None, UserMapping]:
    """Return the problem, the origins of its costs, and the mapping."""
    from paretosoc.dse.cli.shared.build import problem_from_texts
    from paretosoc.dse.problem.build import cost_origins
    from paretosoc.dse.space.mapping_file import load_mapping, mapping_of_member
    from paretosoc.results.export.result_folder import read_costs, read_results
    from paretosoc.results.front.named_members import choose_member

    problem, origins = None, None
    if networks and platform is not None:
        built = problem_from_texts(networks, platform, given).built
        problem, origins = built.problem, cost_origins(built)
    if source is None:
        assert problem is not None, "there are networks without a folder"
        assert mapping is not None, "and a mapping"
        return problem, origins, load_mapping(mapping)
    front = read_results(source)
    index = choose_member(front, member)
    wanted = mapping_of_member(front.problem, front.members[index], f"{source} member {index}")
    if problem is None:
        problem, origins = front.problem, read_costs(source, front.problem)
    return problem, origins, wanted


def _print(result: Evaluated) -> None:
    from paretosoc.results.text.member_diff import member_lines
    from paretosoc.results.text.schedule import SCHEDULE_ROWS, schedule_table

    problem, member = result.problem, result.member
    if result.constraints:
        failing = sum(not state.met for state in result.constraints)
        count = pluralize(len(result.constraints), "constraint")
        verdict = f"{failing} of {count} broken" if failing else f"{count} met"
        open_console().print(verdict, style="bold")
    show(
        *(f"{'met  ' if one.met else 'FAILS'} {one.describe()}" for one in result.constraints),
        *member_lines(problem, member),
        "",
        schedule_table(problem, result.scheduled.schedule, most=SCHEDULE_ROWS, rest="--json"),
    )
