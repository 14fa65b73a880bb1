"""``dse explore``: networks and a platform in, a result folder out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich import progress as bars
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from dse.api.pipeline import SearchSettings, command_line, explore_to_folder
from dse.certificate.summary import describe_claims
from dse.cli.search.certify import MaxNodes, ProofProgress
from dse.cli.shared.build import problem_from_texts
from dse.cli.shared.option_groups import with_option_groups
from dse.cli.shared.options import (
    MAX_COUNT,
    MAX_SEED,
    MAX_SIZE,
    Balance,
    Dimensions,
    Force,
    GoalOptions,
    ModeName,
    NetworkNames,
    PlatformName,
    PredictorOption,
    ProfileFile,
    ScenarioName,
    SpaceOptions,
    TimeLimit,
)
from dse.engines.explore import default_evaluations
from dse.engines.optimizer_registry import ENGINES
from dse.engines.optimizers import Named
from dse.errors import WorkloadError
from dse.papers.managers.mapformer.settings import ManagerSettings
from dse.search.driver import Progress
from dse.search.names import EngineName
from dse.workload.parse_options import make_options
from dse.workload.scenarios import scenario_objectives
from results.export.result_folder import check_output_folder
from results.front.front import Front
from results.io.plural import pluralize
from results.text.fixed_clocks import describe_fixed_clocks
from results.text.front import front_table

Engines = Annotated[
    str | None,
    typer.Option(
        "--pes",
        metavar="N,N...",
        help="Find periodic schedules (Mobile-I) on these numbers of processing elements, "
        "or all that the platform has.",
    ),
]
Inferences = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_SIZE, help="Number of inferences, with --pes. [default: 5000]"),
]
Split = Annotated[
    int | None,
    typer.Option(
        "--split",
        min=1,
        max=MAX_SIZE,
        help="Maximum number of operations per layer, with --pes. [default: 1]",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explore")(with_option_groups(explore))


def explore(
    context: typer.Context,
    networks: NetworkNames,
    platform: PlatformName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Output folder.")],
    scenario: ScenarioName = None,
    balance: Balance = False,
    *,
    space: SpaceOptions,
    goals: GoalOptions,
    profile: ProfileFile = None,
    dim: Dimensions = None,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="Search algorithm. auto: NSGA-II followed by an exact search; exact: exact "
            "search only. With other algorithms only the fastest design is certified. "
            "nsga3 and sms-emoa need three or more objectives."
        ),
    ] = EngineName.AUTO,
    mode: ModeName = None,
    predictor: PredictorOption = None,
    pes: Engines = None,
    inferences: Inferences = None,
    split: Split = None,
    max_evaluations: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_COUNT,
            help="Maximum number of evaluated design points. [default: 100000; free-running: 300]",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    stop_when_stalled: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_COUNT,
            metavar="EVALUATIONS",
            help="Stop if the hypervolume grew by less than 0.01 % within this many evaluations.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the state of the search every 10 s."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume from the checkpoint, if it exists.")
    ] = False,
    no_certify: Annotated[bool, typer.Option("--no-certify", help="Skip the proof.")] = False,
    max_nodes: MaxNodes = None,
    seed: Annotated[
        int,
        typer.Option(min=0, max=MAX_SEED, help="Random seed. The same seed gives the same front."),
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Worker threads. [default: all cores]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    force: Force = False,
) -> int:
    """Search for the Pareto front of networks that share a chip."""

    if pes is not None:
        # Another command in all but its name, and imported when it runs, like all of them.
        from dse.cli.search.periodic import explore_engines

        return explore_engines(
            context,
            networks,
            platform,
            output,
            pes=pes,
            inferences=inferences,
            split=split,
            objective=goals.objective,
            precision=space.precision,
            profile=profile,
            dim=dim,
            quiet=quiet,
            force=force,
        )
    _check_periodic_options(inferences, split)
    objectives = scenario_objectives(scenario, goals.objective)
    goals = replace(goals, objective=None if objectives is None else list(objectives))
    options = make_options(**vars(space), **vars(goals))
    if no_certify and ENGINES[engine].needs_proof:
        raise WorkloadError(f"--no-certify: --engine {engine.value} finds its front by proving it")
    check_output_folder(output, overwrite=force)
    _check_checkpoint(checkpoint, resume=resume, force=force)
    problem = problem_from_texts(
        networks,
        platform,
        options,
        profile=profile,
        dimensions=dim,
        scenario=scenario,
        balance=balance,
    )
    evaluations = max_evaluations or default_evaluations(problem.numeric)
    explored = explore_to_folder(
        problem,
        output,
        Named(name=engine, manager=ManagerSettings(mode, predictor)),
        SearchSettings(
            max_evaluations=evaluations,
            time_limit_s=time_limit,
            stop_when_stalled=stop_when_stalled,
            checkpoint=checkpoint,
            resume=resume,
            seed=seed,
            jobs=jobs,
            max_nodes=max_nodes,
        ),
        prove=not no_certify,
        overwrite=force,
        command=command_line(),
        search_bar=_progress(evaluations, quiet=quiet),
        proof_bar=lambda: ProofProgress(quiet=quiet),
    )
    if explored.not_certified is not None:
        print(f"dse: {explored.not_certified}", file=sys.stderr)
    if explored.not_proved is not None and not quiet:
        print(f"dse: {explored.not_proved}", file=sys.stderr)
    if not quiet:
        _print_front(explored.front.numeric, output)
    return 130 if explored.interrupted else 0


def _check_periodic_options(inferences: int | None, split: int | None) -> None:
    """Refuses, without ``--pes``, what is only for it."""

    for name, value in (("--inferences", inferences), ("--split", split)):
        if value is not None:
            raise WorkloadError(f"{name}: is for periodic schedules, with --pes")


def _check_checkpoint(checkpoint: Path | None, *, resume: bool, force: bool) -> None:

    if checkpoint is None:
        if resume:
            raise WorkloadError("--resume: the file is required that --checkpoint FILE names")
    elif checkpoint.exists() and not (resume or force):
        raise WorkloadError(
            f"--checkpoint: {checkpoint} exists already; --resume continues it, --force replaces it"
        )


class _progress:
    """A progress bar on stderr with evaluations, hypervolume and time left; nothing if quiet."""

    def __init__(self, evaluations: int, *, quiet: bool) -> None:

        self._bar = bars.Progress(
            TextColumn("exploring"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} evaluations"),
            TextColumn("front {task.fields[members]}, hypervolume {task.fields[volume]:.4f}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=quiet,
        )
        self._task = self._bar.add_task("", total=evaluations, members=0, volume=0.0)
        self._total = evaluations

    def __enter__(self) -> _progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        self._bar.update(
            self._task,
            completed=min(progress.evaluations, self._total),
            members=progress.members,
            volume=progress.hypervolume,
        )


def _print_front(front: Front, folder: Path) -> None:

    console = Console()
    console.print(front_table(front, width=console.width))
    source = front.provenance
    console.print(
        f"{pluralize(source.evaluations, 'design point')} in {source.seconds:.1f} s "
        f"(seed {source.seed}, stopped by {source.stopped_by})",
        highlight=False,
    )
    if source.engine == EngineName.EXACT.value:
        console.print("The exact search began with these, and found the rest.", highlight=False)
    held = describe_fixed_clocks(front.problem)
    if held is not None:
        console.print(f"Clocks not searched: {held}.", highlight=False)
    for sentence in describe_claims(front):
        console.print(sentence, highlight=False)
    console.print(
        f"Written to {folder}: {', '.join(sorted(p.name for p in folder.iterdir()))}",
        highlight=False,
        soft_wrap=True,
    )
