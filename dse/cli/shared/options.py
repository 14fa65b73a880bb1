"""Options that several commands share, as types for their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from dse.papers.managers.mapformer.modes import Mode
from dse.papers.managers.mapformer.settings import PredictorName
from dse.workload.options import ThroughputModel
from dse.workload.scenarios import Scenario
from dse.workload.workload_check import MAX_FRAMES_IN_FLIGHT
from results.problem.arithmetic import PRIORITY_LEVELS
from results.problem.execution import IdleTime

MAX_SIZE = 1_000_000
"""Of every option that says how large or how many something is: above all that a network has."""
MAX_COUNT = 10**12
"""Of every option that limits work: no search gets so far, and sums of counts fit into 64 bits."""
MAX_SEED = 2**32 - 1
MAX_SECONDS = 10**9


def check_number(value: float | None) -> float | None:
    """Refuses what compares with no limit of a range: NaN."""
    if value is not None and isnan(value):
        raise typer.BadParameter("a number is required, got nan")
    return value


NetworkNames = Annotated[
    list[str],
    typer.Argument(
        help="Networks: names (see 'dse networks'), .onnx files, NAME*COPIES, or one "
        "workload file (.yaml, .json)."
    ),
]
PlatformName = Annotated[
    str,
    typer.Option("--platform", "-p", help="Platform: a name (see 'dse platforms') or a JSON file."),
]
Folder = Annotated[Path, typer.Argument(help="Result folder.", metavar="DIR")]
DaskAddress = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Address of a Dask scheduler, or its scheduler file."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Serve a page on this machine that shows the run. Needs the extra live."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing result.")]

Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        help="Objective: latency, latency:NETWORK, inverse-latency, throughput, energy, "
        "power, efficiency, stretch, memory; of phases tokens-per-second, energy-per-token; with "
        "--free-running fairness; with --losses accuracy-loss; with rates of networks "
        "relative-response, response, response-95, jitter, misses, each also of one :NETWORK. "
        "Repeatable. [default: latency, energy; with rates relative-response, power]",
    ),
]
GroupCount = Annotated[
    int | None,
    typer.Option("--groups", min=1, max=MAX_SIZE, help="Approximate number of groups per network."),
]
Branches = Annotated[
    bool, typer.Option("--branches", help="Make parallel branches separate groups.")
]
EachLayer = Annotated[bool, typer.Option("--each-layer", help="Cut at every legal place.")]
MaxTransitions = Annotated[
    int | None,
    typer.Option(
        "--max-transitions",
        min=0,
        max=MAX_SIZE,
        help="Maximum number of unit changes per network.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0.001,
        max=MAX_SECONDS,
        callback=check_number,
        help="Time limit in seconds.",
    ),
]
Units = Annotated[
    str | None, typer.Option("--units", help="Units to use, comma-separated. [default: all]")
]
Fixed = Annotated[
    list[str] | None,
    typer.Option("--fix", help="Fix a clock: DOMAIN=MHZ, DOMAIN=max or DOMAIN=min. Repeatable."),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        help="Number format, such as fp16, or formats that groups choose among, such as int8,fp16.",
    ),
]
MaxLosses = Annotated[
    list[str] | None,
    typer.Option(
        "--max-accuracy-loss",
        help="Maximum loss of accuracy in percent, for one network or all: [NETWORK=]PERCENT. "
        "Repeatable. With --losses.",
    ),
]
LossFile = Annotated[
    Path | None,
    typer.Option(
        "--losses",
        help="Table (CSV) of the accuracy that number formats cost: network, layer, format, "
        "loss_ppm, and optionally metric.",
    ),
]
MemoryCap = Annotated[
    str | None,
    typer.Option(
        "--memory-cap", help="Memory in MB that weights and activations may take together."
    ),
]
PowerCap = Annotated[str | None, typer.Option("--power-cap", help="Power cap in watts.")]
EnergyBudget = Annotated[
    str | None, typer.Option("--energy-budget", help="Energy budget per frame in mJ.")
]
Deadlines = Annotated[
    list[str] | None,
    typer.Option(
        "--deadline", help="Deadline in ms, for one network or all: [NETWORK=]MS. Repeatable."
    ),
]
Deadlines95 = Annotated[
    list[str] | None,
    typer.Option(
        "--deadline-95",
        help="Maximum 95th percentile of responses in ms, for one network or all: [NETWORK=]MS. "
        "Repeatable. With rates of networks.",
    ),
]
MaxJitters = Annotated[
    list[str] | None,
    typer.Option(
        "--max-jitter",
        help="Maximum difference of the longest and the shortest response in ms, for one network "
        "or all: [NETWORK=]MS. Repeatable. With rates of networks.",
    ),
]
MaxMisses = Annotated[
    list[str] | None,
    typer.Option(
        "--max-misses",
        help="Maximum number of late responses in a period, for one network or all: [NETWORK=]N. "
        "Repeatable. With rates of networks.",
    ),
]
MinRates = Annotated[
    list[str] | None,
    typer.Option(
        "--min-rate",
        help="Minimum rate of a network in inferences per second: [NETWORK=]HZ. Repeatable. "
        "With --free-running.",
    ),
]
FrameRate = Annotated[
    str | None,
    typer.Option("--fps", help="Frame rate of a periodic workload; energy counts over the period."),
]
Pins = Annotated[
    list[str] | None,
    typer.Option("--pin", help="Pin groups (from 0) to a unit: NET:FIRST-LAST=UNIT. Repeatable."),
]
ProfileFile = Annotated[
    Path | None, typer.Option("--profile", help="Profile with your own measurements (JSON).")
]
Dimensions = Annotated[
    list[str] | None,
    typer.Option(
        "--dim",
        help="Size of a dynamic dimension, for one network or all: [NETWORK:]NAME=N, or "
        "[NETWORK:]INPUT:AXIS=N for one input. Repeatable.",
    ),
]
Batches = Annotated[
    list[str] | None,
    typer.Option(
        "--batch",
        help="Images computed at once, for one network or all: [NETWORK=]N. Repeatable.",
    ),
]
MemberName = Annotated[
    str,
    typer.Option(
        "--member", help="Member: an index, or a name such as fastest, knee or lowest-energy."
    ),
]
ModelFiles = Annotated[
    list[str] | None,
    typer.Option("--model", help="New location of a model: NETWORK=FILE. Repeatable."),
]
ScenarioName = Annotated[
    Scenario | None,
    typer.Option(
        "--scenario",
        help="Scenario of HaX-CoNN. instances: copies of one network; same-input: several "
        "networks on one input; stream: a pipeline of networks.",
    ),
]
Balance = Annotated[
    bool, typer.Option("--balance", help="Repeat faster networks to match the slowest.")
]
FreeRunning = Annotated[
    bool,
    typer.Option(
        "--free-running",
        help="Let every network start its next frame when one of its own ends.",
    ),
]
FramesInFlight = Annotated[
    int | None,
    typer.Option(
        "--frames-in-flight",
        min=1,
        max=MAX_FRAMES_IN_FLIGHT,
        help="Number of frames in flight (per network when free-running). Affects "
        "throughput only. [default: 2, or the workload file's]",
    ),
]
SearchPriorities = Annotated[
    bool,
    typer.Option(
        "--search-priorities",
        help=f"Search the networks' priorities, from 0 to {PRIORITY_LEVELS - 1}.",
    ),
]
ThroughputModelName = Annotated[
    ThroughputModel,
    typer.Option(
        help="Throughput model: simulated (timeline), or Tang's closed form with channels "
        "between units or with all channels.",
    ),
]
PipelineTimeName = Annotated[
    IdleTime,
    typer.Option(
        help="Interval of idle power in the closed form: the period, or the sum of loads "
        "(Tang's Eq. 12).",
    ),
]
ModeName = Annotated[
    Mode | None,
    typer.Option(
        help="Weights of throughput and power in la-mcts: HP 1 and 0, PB 0.7 and 0.3, SM "
        "0.5 and 0.5, PR 0.3 and 0.7. [default: PB]"
    ),
]
PredictorOption = Annotated[
    PredictorName | None,
    typer.Option(
        "--predictor",
        help="Predictor of throughput and power for la-mcts. [default: learned for "
        "--free-running on all units of jetson-agx-xavier, else timeline]",
    ),
]


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


@dataclass(frozen=True)
class ScenarioOptions:
    """How the networks run together, beside what a workload file says."""

    scenario: ScenarioName = None
    balance: Balance = False


@dataclass(frozen=True)
class InputOptions:
    """What is known of the networks beside their models."""

    profile: ProfileFile = None
    losses: LossFile = None
    dim: Dimensions = None
    batch: Batches = None


@dataclass(frozen=True)
class PeriodicOptions:
    """Periodic schedules in place of a search."""

    pes: Engines = None
    inferences: Inferences = None
    split: Split = None


@dataclass(frozen=True)
class SpaceOptions:
    """How networks are cut, and which units and clocks they may have."""

    groups: GroupCount = None
    branches: Branches = False
    each_layer: EachLayer = False
    max_transitions: MaxTransitions = None
    units: Units = None
    fix: Fixed = None
    precision: Precision = None
    pin: Pins = None
    search_priorities: SearchPriorities = False


@dataclass(frozen=True)
class GoalOptions:
    """Objectives and how they are evaluated."""

    objective: Objectives = None
    power_cap: PowerCap = None
    memory_cap: MemoryCap = None
    energy_budget: EnergyBudget = None
    deadline: Deadlines = None
    deadline_95: Deadlines95 = None
    max_jitter: MaxJitters = None
    max_misses: MaxMisses = None
    max_accuracy_loss: MaxLosses = None
    min_rate: MinRates = None
    fps: FrameRate = None
    throughput_model: ThroughputModelName = ThroughputModel.TIMELINE
    pipeline_time: PipelineTimeName = IdleTime.PERIOD
    free_running: FreeRunning = False
    frames_in_flight: FramesInFlight = None
