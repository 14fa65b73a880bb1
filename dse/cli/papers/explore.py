"""``dse papers explore``: ``dse explore`` with the options that only single papers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from paretosoc.dse.cli.search.explore import EffortOptions, Engine, OutputOptions, run_exploration
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.option_groups import PapersGiven
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.engines.optimizers import optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import ANY
from paretosoc.dse.papers.estimator.predictor import PredictorName
from paretosoc.dse.papers.managers.mapformer.la_mcts import Mode
from paretosoc.dse.papers.optimizers import LA_MCTS, la_mcts
from paretosoc.results.problem.runtimes import Runtime


@dataclass(frozen=True)
class ManagerOptions:
    """Settings of MapFormer's tree search."""

    mode: Annotated[
        Mode | None,
        Option(
            help="Weights of throughput and power in la-mcts: HP 1 and 0, PB 0.7 and 0.3, SM "
            "0.5 and 0.5, PR 0.3 and 0.7. [default: PB]"
        ),
    ] = None
    predictor: Annotated[
        PredictorName | None,
        Option(
            "--predictor",
            help="Predictor of throughput and power for la-mcts. [default: learned for "
            "--free-running on all units of jetson-agx-xavier, else timeline]",
        ),
    ] = None


def explore(
    networks: opt.NetworkNames,
    platform: opt.PlatformName,
    *,
    result: OutputOptions,
    given: PapersGiven,
    engine: Engine = "auto",
    manager: ManagerOptions,
    effort: EffortOptions,
) -> int:
    """Explore as the papers do: scenarios, closed forms, settings of their schedulers.

    Without a --runtime units take groups, as in the papers, and --max-transitions is any.
    """
    given["runtime"] = given["runtime"] or Runtime.NONE
    given["max_transitions"] = given["max_transitions"] or [ANY]
    optimizer = optimizer_named(engine)
    for name, value in vars(manager).items():
        if value is not None and engine != LA_MCTS.name:
            raise WorkloadError(f"--{name}: --engine {LA_MCTS.name} is required, got {engine}")
    if engine == LA_MCTS.name:
        optimizer = la_mcts(manager.mode, manager.predictor)
    return run_exploration(networks, platform, given, optimizer, engine, effort, result)
