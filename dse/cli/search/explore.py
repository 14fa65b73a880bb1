"""``dse explore``: networks and a platform in, a result folder out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from paretosoc.common.compiling import seconds_since_call
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.option_groups import ExploreGiven, Given
from paretosoc.dse.cli.shared.parameters import Option, refuse_options
from paretosoc.dse.cli.shared.terminal import open_console, say, show, written
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import ARGUMENTS

if TYPE_CHECKING:
    from paretosoc.dse.api.front import Front
    from paretosoc.dse.api.pipeline import Explored
    from paretosoc.dse.api.problem import Problem
    from paretosoc.dse.cli.shared.progress import ProgressLine
    from paretosoc.dse.engines.explore import SearchSettings
    from paretosoc.dse.engines.optimizers import Optimizer
    from paretosoc.dse.search.driver import Progress
    from paretosoc.dse.server.live.explore import LiveExploration
    from paretosoc.dse.workload.variants import Combination

Engine = Annotated[
    str,
    Option(
        metavar="NAME",
        help="Search algorithm: auto (NSGA-II and an exact search by turns), exact (exact search "
        "only), nsga2, pymoo-nsga2, nsga3 or sms-emoa (three or more objectives), annealing, "
        "random, exhaustive, or one that an installed package registers. Only with auto and exact "
        "the whole front is certified, else its fastest member.",
    ),
]
Seed = Annotated[
    int, Option(min=0, max=opt.MAX_SEED, help="Random seed. The same seed gives the same front.")
]


@dataclass(frozen=True)
class OutputOptions:
    """Options for the output folder and the display of progress."""

    output: opt.Output
    live: opt.Live = False
    quiet: opt.Quiet = False
    force: opt.Force = False


@dataclass(frozen=True)
class EffortOptions:
    """How long search and proof go on, and how they are repeated."""

    max_evaluations: Annotated[
        int | None,
        Option(
            min=1,
            max=opt.MAX_COUNT,
            help="Maximum number of evaluated design points. [default: 100000; free-running: 300; "
            "with a time limit none, but a search whose front has not grown for so many ends]",
        ),
    ] = None
    time_limit_s: opt.TimeLimit = None
    stop_when_stalled: Annotated[
        int | None,
        Option(
            min=1,
            max=opt.MAX_COUNT,
            metavar="EVALUATIONS",
            help="Stop if the hypervolume grew by less than 0.01 % within this many evaluations.",
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Save the state of the search every 10 s. Continue from it if the file exists.",
        ),
    ] = None
    max_nodes: Annotated[
        int | None,
        Option(
            min=0,
            max=opt.MAX_COUNT,
            help="Maximum number of nodes per search of the proof; 0: no proof. [default: "
            "4,000,000]",
        ),
    ] = None
    robust: Annotated[
        str | None,
        Option(
            metavar="MEASURE",
            help="Search with costs drawn from their errors, by the mean of the draws, a "
            "percentile (p90) or the mean of the worst 10 % (cvar90), in place of nominal costs. "
            "No proof.",
        ),
    ] = None
    seed: Seed = 0
    jobs: opt.Jobs = None

    @property
    def proves(self) -> bool:
        """Return whether a proof follows the search."""
        return self.max_nodes != 0 and self.robust is None

    @property
    def settings(self) -> SearchSettings:
        """Return the settings in the library's form."""
        from paretosoc.dse.engines.explore import SearchSettings

        return SearchSettings(**{**vars(self), "max_nodes": self.max_nodes or None})

    def evaluations_of(self, problem: Problem) -> int | None:
        """Return the number of evaluations that progress is shown of, or None if only a time limit
        ends the search."""
        from paretosoc.dse.engines.explore import default_evaluations

        if self.max_evaluations is None and self.time_limit_s is not None:
            return None
        return self.max_evaluations or default_evaluations(problem.numeric)


def explore(
    networks: opt.NetworkNames,
    platform: opt.PlatformName,
    *,
    result: OutputOptions,
    given: ExploreGiven,
    engine: Engine = "auto",
    effort: EffortOptions,
) -> int:
    """Search for the Pareto front of networks that share a chip.

    Networks that offer variants or batches are explored once for each combination of them. The
    folder then has a folder for each, and the front of all, with accuracies as objectives.
    """
    # Imported here and below: help and errors of options need none of what explores.
    from paretosoc.dse.engines.optimizers import optimizer_named

    # Without a proof there are no turns of the exact search either.
    optimizer = optimizer_named(engine if engine != "auto" or effort.proves else "nsga2")
    return run_exploration(networks, platform, given, optimizer, engine, effort, result)


def run_exploration(
    networks: list[str],
    platform: str,
    given: Given,
    optimizer: Optimizer,
    engine: str,
    effort: EffortOptions,
    result: OutputOptions,
) -> int:
    """Explore, print the front and return the exit status.

    Args:
        engine: name under which the optimizer was requested.

    Raises:
        DseError: on input that cannot be used.
    """
    from paretosoc.dse.cli.shared.build import problems_from_texts
    from paretosoc.dse.cli.shared.progress import check_live, live_view
    from paretosoc.results.export.result_folder import check_output_folder, other_kind

    output = result.output
    _check_effort(effort, optimizer, engine)
    if other_kind(output) is None:
        check_output_folder(output, overwrite=result.force)
    else:
        from paretosoc.dse.tools.choose.joined_folder import check_joined_folder

        check_joined_folder(output, overwrite=result.force)
    if result.live:
        check_live()
    problems = problems_from_texts(networks, platform, given)
    if len(problems) > 1:
        return _explore_combinations(problems, optimizer, effort, result)
    (_, problem), *_ = problems
    view = None
    if result.live:
        from paretosoc.dse.server.live.explore import LiveExploration

        view = LiveExploration(
            problem,
            output,
            engine=engine,
            seed=effort.seed,
            evaluations=effort.evaluations_of(problem),
        )
    with live_view(view, output):
        explored = _explore_one(
            problem,
            output,
            optimizer,
            effort,
            result,
            time_limit_s=effort.settings.time_limit_s,
            view=view,
            spent_s=seconds_since_call(),
        )
        if view is not None:
            view.ended(explored.front.numeric)
    if explored.not_certified is not None:
        say(explored.not_certified)
    if explored.not_proved is not None and not result.quiet:
        say(explored.not_proved)
    if not result.quiet:
        refused, chosen = problem.built.refused, not given["objectives"]
        _print_front(explored.front, output, refused, chosen=chosen)
    return 130 if explored.interrupted else 0


def _explore_one(
    problem: Problem,
    output: Path,
    optimizer: Optimizer,
    effort: EffortOptions,
    result: OutputOptions,
    *,
    time_limit_s: float | None,
    view: LiveExploration | None = None,
    spent_s: float = 0.0,
    label: str = "",
) -> Explored:
    """Explore a problem, with its progress on stderr. ``label``: what is explored."""
    from paretosoc.dse.api.pipeline import explore_to_folder
    from paretosoc.dse.cli.search.certify import proof_line

    quiet, evaluations = result.quiet, effort.evaluations_of(problem)
    searching, proving = (None, None) if view is None else (view.searching, view.proving)
    return explore_to_folder(
        problem,
        output,
        optimizer,
        replace(effort.settings, time_limit_s=time_limit_s),
        prove=effort.proves,
        overwrite=result.force,
        command=click.get_current_context().obj,
        spent_s=spent_s,
        search_bar=_search_line(evaluations, quiet=quiet, also=searching, label=label),
        proof_bar=lambda: proof_line(quiet=quiet, also=proving),
    )


def _explore_combinations(
    problems: Sequence[tuple[Combination, Problem]],
    optimizer: Optimizer,
    effort: EffortOptions,
    result: OutputOptions,
) -> int:
    """Explore every combination of variants, print what each has, and return the exit status."""
    from paretosoc.dse.api.joined import explore_combinations
    from paretosoc.dse.tools.choose.joined_folder import check_joined_folder

    check_joined_folder(result.output, overwrite=result.force)
    first, _ = problems[0]
    ways = {"variants": "--variant"} if first.names else {}
    ways |= {"power modes": "--platform BOARD@MODE"} if first.mode else {}
    what, how = " and ".join(ways), " and ".join(ways.values())
    why = f"is for one combination of {what}, got {len(problems)}; {how} can name it"
    refuse_options(why, "live", "checkpoint", "robust")
    quiet = result.quiet

    def explore(label: str, problem: Problem, folder: Path, limit: float | None) -> Explored:
        explored = _explore_one(
            problem, folder, optimizer, effort, result, time_limit_s=limit, label=label
        )
        for reason in (explored.not_certified, None if quiet else explored.not_proved):
            if reason is not None:
                say(f"{label}: {reason}")
        return explored

    joined, interrupted = explore_combinations(
        problems,
        result.output,
        explore,
        time_limit_s=effort.settings.time_limit_s,
        overwrite=result.force,
        command=click.get_current_context().obj,
        prove=effort.proves,
        jobs=effort.jobs,
        spent_s=seconds_since_call(),
    )
    if not quiet:
        show(*joined.summary_views())
        print(f"Written to {result.output}: joined.json, front.csv, report.html and these folders")
        print(f"Next: dse show {result.output}; dse verify {result.output}")
    return 130 if interrupted else 0


def _check_effort(effort: EffortOptions, optimizer: Optimizer, engine: str) -> None:
    """Refuse options that contradict each other."""
    from paretosoc.dse.engines.optimizers import needs_proof

    if effort.max_nodes == 0 and needs_proof(optimizer):
        raise WorkloadError(f"--max-nodes 0: --engine {engine} finds its front by proving it")
    if effort.robust is not None:
        ARGUMENTS["robust"].read(effort.robust, "--robust")
        if effort.max_nodes:
            raise WorkloadError("--max-nodes: is for a proof, and --robust has none")


def _search_line(
    evaluations: int | None,
    *,
    quiet: bool,
    also: Callable[[Progress], None] | None,
    label: str = "",
) -> ProgressLine[Progress]:
    """Format evaluations, hypervolume and, of so many evaluations, the remaining time. ``label``:
    what is explored."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from paretosoc.dse.cli.shared.progress import ProgressLine

    known = evaluations is not None
    return ProgressLine(
        TextColumn(f"exploring {label}".rstrip()),
        BarColumn(),
        TextColumn("{task.completed:,.0f}" + ("/{task.total:,.0f}" * known) + " evaluations"),
        TextColumn("front {task.fields[members]}, hypervolume {task.fields[volume]:.4f}"),
        TimeRemainingColumn(),
        show=lambda progress: {
            "completed": progress.evaluations,
            "total": None if evaluations is None else max(progress.evaluations, evaluations),
            "members": progress.members,
            "volume": progress.hypervolume,
        },
        quiet=quiet,
        also=also,
        total=evaluations,
        members=0,
        volume=0.0,
    )


def _print_front(found: Front, folder: Path, refused: Sequence[str], *, chosen: bool) -> None:
    """Print the front and what is known of it. ``chosen``: no objectives were named."""
    from paretosoc.dse.api.views.sureness import describe_sureness
    from paretosoc.dse.certificate.summary import describe_proof
    from paretosoc.dse.workload.objectives import OF_A_FRAME
    from paretosoc.fitness.guarantee.first_come import guarantee_figures
    from paretosoc.results.front.named_members import KNEE, mark_members
    from paretosoc.results.text.front import front_table
    from paretosoc.results.text.space_description import describe_fixed_clocks

    front, source = found.numeric, found.numeric.provenance
    lines = [f"{source.effort} (seed {source.seed}, {source.ended})"]
    if source.engine == "exact":
        lines.append("The exact search began with these, and found the rest.")
    goals = [objective.kind.value for objective in front.problem.objectives]
    if chosen and goals != list(OF_A_FRAME):
        lines.append(f"Objectives, since none were named: {', '.join(goals)}.")
    lines += [f"{text}." for text in refused]
    held = describe_fixed_clocks(front.problem)
    if held is not None:
        lines.append(f"Clocks not searched: {held}.")
    table = front_table(front, width=open_console().width, guarantee=guarantee_figures)
    show(table, *lines, *describe_sureness(found), *describe_proof(front))
    print(written(folder))
    has_knee = any(KNEE in marks for marks in mark_members(front).values())
    print(
        f"Next: dse report {folder}; dse show {folder} --member {KNEE if has_knee else 0}; "
        f"dse analyze confidence {folder}"
    )
