"""Options of objectives and limits, and of how they are evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from paretosoc.dse.workload.workload_check import MAX_FRAMES_IN_FLIGHT

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
MaxLosses = Annotated[
    list[str] | None,
    typer.Option(
        "--max-accuracy-loss",
        help="Maximum loss of accuracy in percent, for one network or all: [NETWORK=]PERCENT. "
        "Repeatable. With --losses.",
    ),
]
MemoryCap = Annotated[
    list[str] | None,
    typer.Option(
        "--memory-cap",
        help="Memory in MB that weights and activations may take, together or in one memory pool: "
        "[POOL=]MB. Repeatable.",
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
        help="Minimum rate of a network in images per second: [NETWORK=]HZ. Repeatable. "
        "With --free-running.",
    ),
]
FrameRate = Annotated[
    str | None,
    typer.Option("--fps", help="Frame rate of a periodic workload; energy counts over the period."),
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
    free_running: FreeRunning = False
    frames_in_flight: FramesInFlight = None
