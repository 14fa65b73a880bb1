"""``dse explore``: networks and a platform in, a result folder out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dse.command_certify import MaxNodes, ProofProgress
from dse.command_options import (
    Balance,
    Branches,
    Deadlines,
    Dimensions,
    EachLayer,
    EnergyBudget,
    Fixed,
    Force,
    FrameRate,
    GroupCount,
    MaxTransitions,
    NetworkNames,
    Objectives,
    Pins,
    PipelineTimeName,
    PlatformName,
    PowerCap,
    Precision,
    ProfileFile,
    ScenarioName,
    ThroughputModelName,
    Units,
)
from dse.command_periodic import (
    Engines,
    Inferences,
    Split,
    check_periodic_options,
    explore_engines,
)
from dse.engine_names import EngineName
from results.pipeline_model import PipelineTime, ThroughputModel

if TYPE_CHECKING:
    from dse.front_proof import FrontProof, Goal
    from dse.search import Progress
    from results.front import Front


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explore")(explore)


def explore(
    context: typer.Context,
    networks: NetworkNames,
    platform: PlatformName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")],
    scenario: ScenarioName = None,
    balance: Balance = False,
    objective: Objectives = None,
    groups: GroupCount = None,
    branches: Branches = False,
    each_layer: EachLayer = False,
    max_transitions: MaxTransitions = None,
    units: Units = None,
    fix: Fixed = None,
    precision: Precision = None,
    power_cap: PowerCap = None,
    energy_budget: EnergyBudget = None,
    deadline: Deadlines = None,
    fps: FrameRate = None,
    pin: Pins = None,
    profile: ProfileFile = None,
    throughput_model: ThroughputModelName = ThroughputModel.TIMELINE,
    pipeline_time: PipelineTimeName = PipelineTime.PERIOD,
    dim: Dimensions = None,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="What searches. auto: NSGA-II, then the exact search from its front; exact: the "
            "exact search alone; of others only the fastest is proved. nsga3 and sms-emoa: for "
            "three and more objectives."
        ),
    ] = EngineName.AUTO,
    pes: Engines = None,
    inferences: Inferences = None,
    split: Split = None,
    max_evaluations: Annotated[
        int, typer.Option(min=1, help="Design points to evaluate, at most.")
    ] = 100_000,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Most seconds.")] = None,
    stop_when_stalled: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="EVALUATIONS",
            help="End when within so many the hypervolume has grown by less than 0.01 %.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the state of the search there, every 10 s."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, where there is one.")
    ] = False,
    no_certify: Annotated[
        bool, typer.Option("--no-certify", help="Do not prove anything.")
    ] = False,
    max_nodes: MaxNodes = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same front.")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Worker threads. [default: all cores]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    force: Force = False,
) -> int:
    """Search for the Pareto front of networks that share a chip."""
    from dse.cli_options import make_options
    from dse.cli_problem import problem_from_texts
    from dse.cost_origins import cost_origins
    from dse.engines import ENGINES
    from dse.errors import WorkloadError
    from dse.explore import explore_problem
    from dse.scenarios import scenario_objectives
    from results.front_file import check_output_folder, write_results

    if pes is not None:
        return explore_engines(
            context,
            networks,
            platform,
            output,
            pes=pes,
            inferences=inferences,
            split=split,
            objective=objective,
            precision=precision,
            profile=profile,
            dim=dim,
            quiet=quiet,
            force=force,
        )
    check_periodic_options(inferences, split)
    options = make_options(
        objective=scenario_objectives(scenario, objective),
        groups=groups,
        branches=branches,
        each_layer=each_layer,
        max_transitions=max_transitions,
        units=units,
        fix=fix,
        precision=precision,
        power_cap=power_cap,
        energy_budget=energy_budget,
        deadline=deadline,
        fps=fps,
        pin=pin,
        throughput_model=throughput_model,
        pipeline_time=pipeline_time,
    )
    info = ENGINES[engine]
    if no_certify and info.needs_proof:
        raise WorkloadError(f"--no-certify: --engine {engine.value} finds its front by proving it")
    check_output_folder(output, overwrite=force)
    _check_checkpoint(checkpoint, resume=resume, force=force)
    built, chip = problem_from_texts(
        networks,
        platform,
        options,
        profile=profile,
        dimensions=dim,
        scenario=scenario,
        balance=balance,
    )
    with _progress(max_evaluations, quiet=quiet) as on_progress:
        front = explore_problem(
            built,
            platform=chip.name,
            engine=engine,
            max_evaluations=max_evaluations,
            time_limit_s=time_limit,
            stop_when_stalled=stop_when_stalled,
            checkpoint=checkpoint,
            resume=resume,
            seed=seed,
            jobs=jobs,
            command=["dse", *sys.argv[1:]],
            on_progress=on_progress,
        )
    costs = cost_origins(built)
    proof: FrontProof | None = None
    prove = not no_certify and front.provenance.stopped_by != "interrupt"
    if prove:
        # Written before the proof, too: whatever ends that does not take the front along.
        write_results(output, front, costs=costs, overwrite=force, pictures=False)
        proof = _proved(front, info.goal, max_nodes, time_limit, quiet=quiet)
    if proof is not None:
        front = proof.front
    write_results(
        output,
        front,
        costs=costs,
        certificate=None if proof is None else proof.certificate,
        epsilon=None if proof is None else proof.epsilon,
        overwrite=force or prove,
    )
    if not quiet:
        _print_front(front, output)
    ended = front.provenance.stopped_by == "interrupt" or (proof is not None and proof.interrupted)
    return 130 if ended else 0


def _check_checkpoint(checkpoint: Path | None, *, resume: bool, force: bool) -> None:
    from dse.errors import WorkloadError

    if checkpoint is None:
        if resume:
            raise WorkloadError("--resume: the file is required that --checkpoint FILE names")
    elif checkpoint.exists() and not (resume or force):
        raise WorkloadError(
            f"--checkpoint: {checkpoint} exists already; --resume goes on from it, --force "
            "replaces it"
        )


def _proved(
    front: Front, goal: Goal, max_nodes: int | None, time_limit_s: float | None, *, quiet: bool
) -> FrontProof | None:
    """The front with its proof; None, and why on stderr, where there can be none."""
    from dse.certify import Limits, certified_column
    from dse.front_proof import Goal, prove_front
    from results.errors import ResultError

    if goal is Goal.FASTEST and certified_column(front.problem) is None:
        return None
    try:
        with ProofProgress(quiet=quiet) as on_progress:
            proof = prove_front(
                front, goal=goal, limits=Limits(max_nodes, time_limit_s), on_progress=on_progress
            )
    except ResultError as error:
        print(f"dse: not certified: {error}", file=sys.stderr)
        return None
    if proof.refused is not None and not quiet:
        print(f"dse: the front is not proved: {proof.refused}", file=sys.stderr)
    return proof


class _progress:
    """A progress bar on stderr with evaluations, hypervolume and time left; nothing if quiet."""

    def __init__(self, evaluations: int, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
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
    from rich.console import Console

    from dse.claim_words import claims_in_words
    from results.table import front_table

    console = Console()
    console.print(front_table(front, width=console.width))
    source = front.provenance
    console.print(
        f"{source.evaluations:,} design points in {source.seconds:.1f} s "
        f"(seed {source.seed}, stopped by {source.stopped_by})",
        highlight=False,
    )
    for sentence in claims_in_words(front):
        console.print(sentence, highlight=False)
    console.print(
        f"Written to {folder}: {', '.join(sorted(p.name for p in folder.iterdir()))}",
        highlight=False,
        soft_wrap=True,
    )
