"""``dse papers explore``: ``dse explore`` with the options that only single papers have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from paretosoc.dse.cli.search.explore import EffortOptions, Engine, OutputOptions, run_exploration
from paretosoc.dse.cli.shared.goal_options import GoalOptions
from paretosoc.dse.cli.shared.option_groups import with_option_groups
from paretosoc.dse.cli.shared.options import (
    InputOptions,
    NetworkNames,
    PlatformName,
    ScenarioOptions,
)
from paretosoc.dse.cli.shared.space_options import SpaceOptions
from paretosoc.dse.engines.optimizer_registry import optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.predictor import PredictorName
from paretosoc.dse.papers.managers.mapformer.value import Mode
from paretosoc.dse.papers.optimizers import LA_MCTS, la_mcts
from paretosoc.dse.workload.options import ThroughputModel
from paretosoc.dse.workload.parse_options import make_options
from paretosoc.dse.workload.scenarios import scenario_objectives
from paretosoc.results.problem.execution import IdleTime


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explore")(with_option_groups(explore))


@dataclass(frozen=True)
class ManagerOptions:
    """Settings of MapFormer's tree search."""

    mode: Annotated[
        Mode | None,
        typer.Option(
            help="Weights of throughput and power in la-mcts: HP 1 and 0, PB 0.7 and 0.3, SM "
            "0.5 and 0.5, PR 0.3 and 0.7. [default: PB]"
        ),
    ] = None
    predictor: Annotated[
        PredictorName | None,
        typer.Option(
            "--predictor",
            help="Predictor of throughput and power for la-mcts. [default: learned for "
            "--free-running on all units of jetson-agx-xavier, else timeline]",
        ),
    ] = None


@dataclass(frozen=True)
class ClosedFormOptions:
    """Tang's closed form of throughput and energy."""

    throughput_model: Annotated[
        ThroughputModel,
        typer.Option(
            help="Throughput model: simulated (timeline), or Tang's closed form with channels "
            "between units or with all channels.",
        ),
    ] = ThroughputModel.TIMELINE
    pipeline_time: Annotated[
        IdleTime,
        typer.Option(
            help="Interval of idle power in the closed form: the period, or the sum of loads "
            "(Tang's Eq. 12).",
        ),
    ] = IdleTime.PERIOD


def explore(
    context: typer.Context,
    networks: NetworkNames,
    platform: PlatformName,
    *,
    result: OutputOptions,
    together: ScenarioOptions,
    space: SpaceOptions,
    goals: GoalOptions,
    closed_form: ClosedFormOptions,
    inputs: InputOptions,
    engine: Engine = "auto",
    manager: ManagerOptions,
    effort: EffortOptions,
) -> int:
    """Explore as the papers do: scenarios, closed forms, settings of their schedulers."""

    objectives = scenario_objectives(together.scenario, goals.objective)
    goals = replace(goals, objective=None if objectives is None else list(objectives))
    options = make_options(**vars(space), **vars(goals), **vars(closed_form))
    optimizer = optimizer_named(engine)
    for name, value in vars(manager).items():
        if value is not None and engine != LA_MCTS.name:
            raise WorkloadError(f"--{name}: --engine {LA_MCTS.name} is required, got {engine}")
    if engine == LA_MCTS.name:
        optimizer = la_mcts(manager.mode, manager.predictor)
    return run_exploration(
        *(context, networks, platform, options, optimizer, engine, inputs, effort, result),
        together=together,
    )
