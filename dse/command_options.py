"""Options that several commands share, as types for their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dse.managers.modes import Mode
from dse.managers.settings import PredictorName
from dse.scenarios import Scenario
from dse.workload_check import MOST_FRAMES_IN_FLIGHT
from results.pipeline_model import PipelineTime, ThroughputModel

NetworkNames = Annotated[
    list[str],
    typer.Argument(
        help="Names (see 'dse networks'), .onnx files, NAME*COPIES; or one workload file (.yaml, "
        ".json)."
    ),
]
PlatformName = Annotated[
    str, typer.Option("--platform", "-p", help="A name (see 'dse platforms') or a JSON file.")
]
Folder = Annotated[
    Path, typer.Argument(help="A result folder, as 'dse explore' writes it.", metavar="DIR")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an older result.")]

Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        help="latency, latency:NETWORK, inverse-latency, throughput, energy, power, efficiency, "
        "stretch or, with --free-running, fairness; give it twice or more. [default: latency, "
        "energy]",
    ),
]
GroupCount = Annotated[
    int | None, typer.Option("--groups", min=1, help="About so many groups per network.")
]
Branches = Annotated[
    bool, typer.Option("--branches", help="Parallel branches are groups of their own.")
]
EachLayer = Annotated[bool, typer.Option("--each-layer", help="Every layer is a group of its own.")]
MaxTransitions = Annotated[
    int | None, typer.Option("--max-transitions", min=0, help="Most changes of unit per network.")
]
Units = Annotated[
    str | None, typer.Option("--units", help="Only these units, separated by commas.")
]
Fixed = Annotated[
    list[str] | None, typer.Option("--fix", help="DOMAIN=MHZ, DOMAIN=max or DOMAIN=min.")
]
Precision = Annotated[str | None, typer.Option("--precision", help="Number format, such as fp16.")]
PowerCap = Annotated[str | None, typer.Option("--power-cap", help="Most power, in W.")]
EnergyBudget = Annotated[
    str | None, typer.Option("--energy-budget", help="Most energy per frame, in mJ.")
]
Deadlines = Annotated[
    list[str] | None, typer.Option("--deadline", help="[NETWORK=]MS: most latency.")
]
MinRates = Annotated[
    list[str] | None,
    typer.Option(
        "--min-rate",
        help="[NETWORK=]HZ: least inferences per second of a network; with --free-running.",
    ),
]
FrameRate = Annotated[
    str | None,
    typer.Option("--fps", help="Frames per second: energy is counted over that period."),
]
Pins = Annotated[
    list[str] | None, typer.Option("--pin", help="Groups, from 0, to a unit: NET:FIRST-LAST=UNIT.")
]
ProfileFile = Annotated[
    Path | None, typer.Option("--profile", help="Your own measurements (JSON).")
]
Dimensions = Annotated[
    list[str] | None, typer.Option("--dim", help="NAME=N: size of a dynamic dimension.")
]
MemberName = Annotated[
    str, typer.Option("--member", help="A number, or fastest, frugal, knee or another mark.")
]
ModelFiles = Annotated[
    list[str] | None,
    typer.Option("--model", help="NETWORK=FILE: where its model is, if no longer where it was."),
]
ScenarioName = Annotated[
    Scenario | None,
    typer.Option(
        "--scenario",
        help="instances: several of one network; same-input: different ones at the same time; "
        "stream: a chain on a stream, frames overlap.",
    ),
]
Balance = Annotated[
    bool, typer.Option("--balance", help="Repeat faster networks to match the slowest.")
]
FreeRunning = Annotated[
    bool,
    typer.Option(
        "--free-running",
        help="No common frame: every network starts its next frame when one of its own ends.",
    ),
]
FramesInFlight = Annotated[
    int | None,
    typer.Option(
        "--frames-in-flight",
        min=1,
        max=MOST_FRAMES_IN_FLIGHT,
        help="Frames at work at a time, for throughput; of free-running networks, of each. "
        "[default: 2, or the workload file's]",
    ),
]
ThroughputModelName = Annotated[
    ThroughputModel,
    typer.Option(
        help="What throughput and its energy are: counted on the timeline; or Tang's closed form, "
        "with the channels between units, or with all channels.",
    ),
]
PipelineTimeName = Annotated[
    PipelineTime,
    typer.Option(
        help="Of a closed form: the time over which a frame draws idle power; the sum is Tang's "
        "Eq. 12.",
    ),
]
ModeName = Annotated[
    Mode | None,
    typer.Option(
        help="What la-mcts weighs throughput and power by: HP 1 and 0, PB 0.7 and 0.3, SM 0.5 and "
        "0.5, PR 0.3 and 0.7. [default: PB]"
    ),
]
PredictorOption = Annotated[
    PredictorName | None,
    typer.Option(
        "--predictor",
        help="What tells la-mcts throughput and power. [default: learned for --free-running on "
        "all units of its board, jetson-agx-xavier; else timeline]",
    ),
]


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


@dataclass(frozen=True)
class GoalOptions:
    """What is wanted of a design point, and how that is counted."""

    objective: Objectives = None
    power_cap: PowerCap = None
    energy_budget: EnergyBudget = None
    deadline: Deadlines = None
    min_rate: MinRates = None
    fps: FrameRate = None
    throughput_model: ThroughputModelName = ThroughputModel.TIMELINE
    pipeline_time: PipelineTimeName = PipelineTime.PERIOD
    free_running: FreeRunning = False
    frames_in_flight: FramesInFlight = None
