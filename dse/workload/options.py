"""The options of a problem, in one table: :class:`ProblemOptions`.

The arguments of :class:`dse.Problem` and their checks, the options of the commands, the keys of
workload and campaign files with their schemas, the parameters of the MCP server and the reference
page are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, get_type_hints

from paretosoc.dse.inputs.arguments import MAX_SIZE
from paretosoc.dse.inputs.exact_numbers import Number
from paretosoc.dse.inputs.kinds import (
    Choice,
    File,
    Flag,
    Groups,
    Quantity,
    Tolerance,
    Whole,
    WholeOr,
)
from paretosoc.dse.inputs.kinds_by_name import (
    ByNetwork,
    ChoicesPerName,
    Clocks,
    Names,
    Objectives,
    PerName,
    PerUnit,
    Pinned,
    Pins,
    Sizes,
)
from paretosoc.dse.workload.fields import Field, Fits
from paretosoc.dse.workload.workload import MAX_FRAMES_IN_FLIGHT, WorkloadNetwork
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.execution import DISPATCHES, MAX_BATCH, IdleTime, SearchedOrder
from paretosoc.results.problem.limits import (
    DEADLINE,
    ENERGY,
    JITTER,
    LOSS,
    MEMORY,
    MISSES,
    POWER,
    RATE,
    RESPONSE_95,
    TRANSITIONS,
)
from paretosoc.results.problem.own_objective import OwnObjective
from paretosoc.results.problem.runtimes import Runtime
from paretosoc.sdf.grouping.options import Grouping

if TYPE_CHECKING:
    from paretosoc.fitness.profiles.loss_table import LossTable
    from paretosoc.fitness.profiles.profile_file import Profile

MAX_RELEASES = 1000
"""Most releases of a network with a rate within the period of all."""


class Scenario(Enum):
    """The relation between the networks of a command line."""

    INSTANCES = "instances"
    """1: several instances of one network, each on an image of its own."""
    SAME_INPUT = "same-input"
    """2: different networks on the same input, at the same time."""
    STREAM = "stream"
    """3: a chain on a stream: network i of frame k runs beside network i - 1 of frame k + 1."""


class ThroughputModel(Enum):
    """Definition of a pipeline's throughput. Values are the names on the command line."""

    TIMELINE = "timeline"
    """Simulated: contention, transitions and a limited number of frames in flight."""
    ANALYTIC = "analytic"
    """In closed form, with the channels between units."""
    ANALYTIC_ALL_CHANNELS = "analytic-all-channels"
    """In closed form, with all channels."""


Amount = Number | Mapping[str, Number] | None
_PER_MS = PerName(Quantity("MS"))


class ProblemOptions(TypedDict, total=False):
    """Options of a problem, in the order of their lists in campaign files: options that change the
    numeric problem's rows come first."""

    profile: Annotated[
        str | Path | Profile | None,
        Field(
            File(),
            "Profile with your own measurements (JSON), or a cost model by name",
            axis="profiles",
        ),
    ]
    losses: Annotated[
        str | Path | LossTable | None,
        Field(
            File(),
            "Table (CSV) of the accuracy that number formats cost: network, layer, format, "
            "loss_ppm, and optionally metric",
            axis="losses",
        ),
    ]
    variants: Annotated[
        Mapping[str, str] | None,
        Field(
            ByNetwork(),
            "Variant of a network of the workload file: NETWORK=NAME",
            "--variant",
            axis="variants",
        ),
    ]
    min_accuracy_percent: Annotated[
        Amount,
        Field(
            PerName(Quantity("PERCENT", Fraction(0), Fraction(100))),
            "Minimum accuracy of a variant in percent",
            "--limit min-accuracy",
        ),
    ]
    dimensions: Annotated[
        Mapping[str, int] | None,
        Field(
            Sizes(),
            "Size of a dynamic dimension, for one network or all: [NETWORK:]NAME=N. NAME "
            "is INPUT:AXIS for one input",
            "--dim",
            axis="dimensions",
        ),
    ]
    batch: Annotated[
        int | Sequence[int] | Mapping[str, int | Sequence[int]] | None,
        Field(
            ChoicesPerName(Whole(1, MAX_BATCH)),
            "Images computed at once; several are variants of the network",
            axis="batches",
        ),
    ]
    groups: Annotated[
        int | str | Grouping | None,
        Field(
            Groups(Whole(1, MAX_SIZE)),
            "Approximate number of groups per network; layers: one for each layer, so that none "
            "are fused; branches: parallel branches are groups, with :N about N in all",
            axis="group_counts",
        ),
    ]
    units: Annotated[
        str | Sequence[str] | None,
        Field(
            Names(","),
            "Units to use, comma-separated",
            axis="units",
            default="all that the runtime serves",
        ),
    ]
    runtime: Annotated[
        str | Runtime | None,
        Field(
            Choice(Runtime),
            "Runtime that members are deployed to: it says which units there are, how each takes "
            "its work, and what a network keeps to",
            axis="runtimes",
            default="the board's own (Jetsons: trtexec); none if it has none or for dataflow "
            "graphs alone",
        ),
    ]
    dispatch: Annotated[
        str | Mapping[str, str] | None,
        Field(
            PerUnit(DISPATCHES),
            "How units take their work: by groups, by engines, or shared by networks, whatever "
            "the runtime does",
        ),
    ]
    precision: Annotated[
        str | Sequence[str] | None,
        Field(
            Names(","),
            "Number format, such as fp16, or formats that groups choose among, such as int8,fp16",
            axis="precisions",
        ),
    ]
    free_running: Annotated[
        bool,
        Field(
            Flag(),
            "Let every network start its next frame when one of its own ends",
            axis="free_running",
        ),
    ]
    frames_in_flight: Annotated[
        int | None,
        Field(
            Whole(1, MAX_FRAMES_IN_FLIGHT),
            "Number of frames in flight (per network when free-running). Affects throughput only",
            axis="frames_in_flight",
            starts_others=True,
            default="2, or the workload file's",
        ),
    ]
    pins: Annotated[
        Mapping[str, str | Mapping[tuple[int, int], str]] | None,
        Field(
            Pins(),
            "Pin a network to a unit, NET=UNIT, or some of its groups (from 0), "
            "NET:FIRST-LAST=UNIT",
            "--fix",
        ),
    ]
    search_order: Annotated[
        str | SearchedOrder | None,
        Field(
            Choice(SearchedOrder),
            "Search the order in which units take what waits, by a priority from 0 to "
            f"{PRIORITY_LEVELS - 1} of each",
            fits=Fits.COMMON_FRAME,
        ),
    ]
    fixed: Annotated[
        Mapping[str, str | Number] | None,
        Field(
            Clocks(),
            "Fix a clock, DOMAIN=MHZ, DOMAIN=max or DOMAIN=min; or the unit of a network, "
            "NET=UNIT, or of some of its groups (from 0), NET:FIRST-LAST=UNIT",
            *("--fix", "fixed"),
            starts_others=True,
        ),
    ]
    max_transitions: Annotated[
        int | str | Mapping[str, int | str] | None,
        Field(
            PerName(WholeOr(Whole(0, MAX_SIZE))),
            "Maximum number of unit changes",
            *("--max-transitions", "transition_limits"),
            default="2 more than layers force; dataflow graphs any",
            spec=TRANSITIONS,
        ),
    ]
    max_accuracy_loss_percent: Annotated[
        Amount,
        Field(
            PerName(Quantity("PERCENT", Fraction(0), Fraction(10**6))),
            "Maximum loss of accuracy in percent",
            *("--limit max-accuracy-loss", "accuracy_loss_limits"),
            note="With --losses.",
            spec=LOSS,
        ),
    ]
    deadline_ms: Annotated[
        Amount, Field(_PER_MS, "Deadline in ms", "--deadline", "deadlines_ms", spec=DEADLINE)
    ]
    tolerance: Annotated[
        str | tuple[Number, Number] | None,
        Field(
            Tolerance(),
            "Times that deadlines and frame rates must hold for, as parts of the nominal ones, if "
            "units keep their planned order: 0.7..1.1",
            axis="tolerances",
            starts_others=True,
            fits=Fits.COMMON_FRAME,
        ),
    ]
    deadline_95_ms: Annotated[
        Amount,
        Field(
            _PER_MS,
            "Maximum 95th percentile of responses in ms",
            *("--limit deadline-95", "deadlines_95_ms"),
            spec=RESPONSE_95,
        ),
    ]
    max_jitter_ms: Annotated[
        Amount,
        Field(
            PerName(Quantity("MS", Fraction(0), Fraction(10**6))),
            "Maximum difference of the longest and the shortest response in ms",
            *("--limit max-jitter", "jitter_limits_ms"),
            spec=JITTER,
        ),
    ]
    max_misses: Annotated[
        int | Mapping[str, int] | None,
        Field(
            PerName(Whole(0, MAX_RELEASES)),
            "Maximum number of late responses in a period",
            *("--limit max-misses", "miss_limits"),
            spec=MISSES,
        ),
    ]
    min_rate_hz: Annotated[
        Amount,
        Field(
            PerName(Quantity("HZ")),
            "Minimum rate of a network in images per second",
            *("--limit min-rate", "min_rates_hz"),
            spec=RATE,
        ),
    ]
    frames_per_second: Annotated[
        Number | None,
        Field(
            Quantity("HZ"),
            "Frame rate of a periodic workload; energy counts over the period",
            *("--fps", "frame_rates"),
            starts_others=True,
            fits=Fits.COMMON_FRAME,
        ),
    ]
    energy_budget_mj: Annotated[
        Number | None,
        Field(
            Quantity("MJ"),
            "Energy budget per frame in mJ",
            *("--limit energy-budget", "energy_budgets_mj"),
            spec=ENERGY,
        ),
    ]
    power_cap_w: Annotated[
        Number | None,
        Field(
            Quantity("W"),
            "Cap on the mean power in W, in steps of 1 mW",
            "--power-cap",
            "power_caps_w",
            spec=POWER,
        ),
    ]
    memory_cap_mb: Annotated[
        Amount,
        Field(
            PerName(Quantity("MB"), "POOL"),
            "Memory in MB that weights and activations may take",
            *("--limit memory-cap", "memory_caps_mb"),
            spec=MEMORY,
        ),
    ]
    objectives: Annotated[
        str | OwnObjective | Sequence[str | OwnObjective] | None,
        Field(
            Objectives(),
            "Objective: latency, latency:NETWORK, inverse-latency, throughput, energy, "
            "power, efficiency, stretch, memory; of phases tokens-per-second, energy-per-token; "
            "with --free-running fairness; with --losses accuracy-loss; "
            "with --tolerance guaranteed-latency, guaranteed-response; with rates of networks "
            "relative-response, response, response-95, jitter, misses, each also of one :NETWORK; "
            "or one that an installed package registers",
            *("--objective", "objectives"),
            starts_others=True,
            default="latency, energy; free-running throughput, energy; with rates "
            "relative-response, power; of time only if no power is known",
        ),
    ]
    scenario: Annotated[
        str | Scenario | None,
        Field(
            Choice(Scenario),
            "Scenario of HaX-CoNN. instances: copies of one network; same-input: several "
            "networks on one input; stream: a pipeline of networks",
        ),
    ]
    match_repeats: Annotated[
        bool, Field(Flag(), "Repeat faster networks to match the slowest", "--balance")
    ]
    throughput_model: Annotated[
        str | ThroughputModel,
        Field(
            Choice(ThroughputModel),
            "Throughput model: simulated (timeline), or Tang's closed form with channels "
            "between units or with all channels",
        ),
    ]
    pipeline_time: Annotated[
        str | IdleTime,
        Field(
            Choice(IdleTime),
            "Interval of idle power in the closed form: the period, or the sum of loads "
            "(Tang's Eq. 12)",
        ),
    ]


PAPERS = frozenset({"scenario", "match_repeats", "throughput_model", "pipeline_time"})
"""Options that ``dse papers explore`` has, and ``dse explore`` has not."""

ByName = tuple[tuple[str | None, Fraction], ...]
"""Network or memory pool, or None for all, and its number."""


@dataclass(frozen=True)
class Options:
    """Choices of a run as the program has them: numbers exact, names in tuples. None or nothing
    stands for an option that was not given.

    ``fixed``: domain -> ``max``, ``min`` or MHz.
    """

    variants: tuple[tuple[str, str], ...] = ()
    min_accuracy_percent: ByName = ()
    dimensions: tuple[tuple[str, int], ...] = ()
    batch: tuple[tuple[str | None, int], ...] = ()
    groups: int | Grouping | None = None
    units: tuple[str, ...] | None = None
    runtime: Runtime | None = None
    dispatch: tuple[tuple[str | None, str], ...] = ()
    precision: tuple[str, ...] | None = None
    free_running: bool = False
    frames_in_flight: int | None = None
    pins: tuple[Pinned, ...] = ()
    search_order: SearchedOrder | None = None
    fixed: tuple[tuple[str, str | Fraction], ...] = ()
    max_transitions: tuple[tuple[str | None, int | str], ...] = ()
    max_accuracy_loss_percent: ByName = ()
    deadline_ms: ByName = ()
    tolerance: tuple[Fraction, Fraction] | None = None
    deadline_95_ms: ByName = ()
    max_jitter_ms: ByName = ()
    max_misses: tuple[tuple[str | None, int], ...] = ()
    min_rate_hz: ByName = ()
    frames_per_second: Fraction | None = None
    energy_budget_mj: Fraction | None = None
    power_cap_w: Fraction | None = None
    memory_cap_mb: ByName = ()
    objectives: tuple[str, ...] = ()
    scenario: Scenario | None = None
    match_repeats: bool = False
    throughput_model: ThroughputModel = ThroughputModel.TIMELINE
    pipeline_time: IdleTime = IdleTime.PERIOD


FIELDS: dict[str, Field] = {
    name: hint.__metadata__[0].named(name)
    for name, hint in get_type_hints(
        ProblemOptions, localns={"Profile": Any, "LossTable": Any}, include_extras=True
    ).items()
}
"""The table, by the name that the option has in the library."""

LIMITS = {f.limit: f for f in FIELDS.values() if f.spec or not f.has_option}
"""By the name that ``--limit`` takes."""

NETWORK_LIMITS = tuple(
    name
    for name, field in FIELDS.items()
    if field.spec and isinstance(field.kind, PerName) and hasattr(WorkloadNetwork, name)
)
"""Limits of single networks that are keys of workload files, too."""


def as_written(name: str, value: object = None) -> str:
    """Return an option, with a value or alone, as the caller writes it."""
    return FIELDS[name].as_written(value)


AXES: dict[str, tuple[str, bool]] = {
    "platform": ("platforms", False),
    **{name: (field.axis, field.starts_others) for name, field in FIELDS.items() if field.axis},
    "engine": ("engines", True),
    "max_evaluations": ("evaluations", True),
    "seed": ("seeds", True),
}
"""Keys of a campaign's run, in the order of its runs, slowest first: the key of their list, and
whether runs that differ in this alone have the same rows, so that one front can start another."""

FILES = frozenset({"profile", "losses"})
"""Options whose values are objects or files. They are no part of :class:`Options`."""
