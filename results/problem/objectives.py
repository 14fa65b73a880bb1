"""Objectives, as files and people see them, and the models that have them.

In files every objective is an integer that is minimised. Quantities that people maximise
(throughput, rates) are turned back for display. A new objective has a kind and a spec here, its
integer in :mod:`fitness.objectives`, the same once more in
:mod:`fitness.check.members.outcome`, and its definition in ``docs/reference/result_files.md``. One
of a user's own is a function of these (:mod:`results.problem.own_objective`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Annotated

from paretosoc.common.documents.marks import As, Context, Fault, Keys, Name, NameOf
from paretosoc.common.units import (
    BYTES_PER_MB,
    FJ_PER_J,
    FJ_PER_MJ,
    PPM_PER_PERCENT,
    PS_PER_MS,
    PS_PER_S,
    UHZ_PER_HZ,
    UW_PER_W,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import (
    EXECUTION_MODELS,
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    IdleTime,
    OneFrame,
    Periodic,
    Rates,
)
from paretosoc.results.problem.own_objective import OWN_OBJECTIVES, OwnObjective

if TYPE_CHECKING:
    from paretosoc.common.arrays import IntArray
    from paretosoc.results.problem.problem import Problem


class ObjectiveKind(Enum):
    """A quantity that can be optimised. Values are the names on the command line."""

    LATENCY = "latency"
    GUARANTEED_LATENCY = "guaranteed-latency"
    INVERSE_LATENCY = "inverse-latency"
    THROUGHPUT = "throughput"
    ENERGY = "energy"
    POWER = "power"
    EFFICIENCY = "efficiency"
    STRETCH = "stretch"
    FAIRNESS = "fairness"
    TOKEN_RATE = "tokens-per-second"
    TOKEN_ENERGY = "energy-per-token"
    RELATIVE_RESPONSE = "relative-response"
    RESPONSE = "response"
    GUARANTEED_RESPONSE = "guaranteed-response"
    RESPONSE_95 = "response-95"
    JITTER = "jitter"
    MISSES = "misses"
    ACCURACY_LOSS = "accuracy-loss"
    MEMORY = "memory"

    @property
    def spec(self) -> ObjectiveSpec:
        """Return its names, units and models."""
        return OBJECTIVES[self]


Kind = ObjectiveKind | OwnObjective
"""A kind of objective: the program's, or a user's own."""


def kinds_by_name() -> dict[str, Kind]:
    """Return the program's kinds, and those that problems of this process were given."""
    return {**{kind.value: kind for kind in ObjectiveKind}, **OWN_OBJECTIVES.own}


def kind_named(name: str) -> Kind | None:
    """Return the kind of a name, or None if neither the program nor an installed package has it.

    Raises:
        ResultError: if the package's object cannot be had, or has another name, by which no file
            could be read again.
    """
    kinds = kinds_by_name()
    if name in kinds or name not in OWN_OBJECTIVES.names():
        return kinds.get(name)
    found = OWN_OBJECTIVES.get(name, "objective")
    if found.name != name:
        raise ResultError(
            f"objective {name}: the name of its dse.OwnObjective must be {name!r}, too, got "
            f"{found.name!r}"
        )
    return found


def _kind_named(name: str) -> Kind:
    kind = kind_named(name)
    if kind is None:
        raise Fault(
            f"must be one of {', '.join(kinds_by_name())}, or of an installed package that "
            f"registers it under paretosoc.objectives; got {name!r}"
        )
    return kind


@dataclass(frozen=True)
class _NetworkKeys:
    """The keys of an objective in ``problem.json`` beside its kind."""

    network: Annotated[int, NameOf("networks")] | None
    """Network that the objective is of, or null for all."""
    name: Name
    """Key of the objective in front.json."""


def _network_of(keys: _NetworkKeys, _: Context) -> dict[str, int | None]:
    return {"network": keys.network}


def _keys_of(objective: Objective, context: Context) -> _NetworkKeys:
    return _NetworkKeys(objective.network, objective.name_in(context.subject))


@dataclass(frozen=True)
class Objective:
    """One objective. ``network`` (an index) narrows it to one network."""

    kind: Annotated[Kind, As(Name, _kind_named, lambda kind: kind.value)]
    """The optimised figure. Its key in front.json is name."""
    network: Annotated[int | None, Keys(_NetworkKeys, _network_of, _keys_of)] = None

    @property
    def unit(self) -> str:
        """Return the unit of the displayed value."""
        return self.kind.spec.unit

    @property
    def larger_is_better(self) -> bool:
        """Return whether people maximise the displayed value."""
        return self.kind.spec.larger_is_better

    def parts(self, names: Sequence[str]) -> tuple[Objective, ...]:
        """Return the objectives that it is computed from: itself, if it is none of a user's own.

        Args:
            names: of the networks.

        Raises:
            ResultError: on an own objective of a network that there is not.
        """
        if not isinstance(self.kind, OwnObjective):
            return (self,)
        return tuple(_part(self.kind, text, names) for text in self.kind.of)

    def integers(
        self, names: Sequence[str], value_of: Callable[[Objective], Sequence[int]]
    ) -> IntArray:
        """Return [n] integers, computed from those of :meth:`parts`.

        Args:
            names: of the networks.
            value_of: [n] of an objective that is none of a user's own.

        Raises:
            ResultError: see :meth:`parts` and :meth:`OwnObjective.integers`.
        """
        import numpy as np

        if not isinstance(self.kind, OwnObjective):
            return np.asarray(value_of(self), dtype=np.int64)
        parts = self.parts(names)
        return self.kind.integers(
            [np.array([part.shown(value) for value in value_of(part)]) for part in parts]
        )

    def name_in(self, problem: Problem) -> str:
        """Name in ``front.json``, unit included: ``latency_ps``, ``latency_ps:NETWORK``, ..."""
        name, n = self.kind.spec.file_name, self.network
        return name if n is None else f"{name}:{problem.networks[n].name}"

    def label(self, problem: Problem) -> str:
        """Name for people, without the unit: ``latency``, ``latency of NETWORK``."""
        label, n = self.kind.spec.label, self.network
        return label if n is None else f"{label} of {problem.networks[n].name}"

    def title(self, problem: Problem) -> str:
        """Name for people, with the unit: ``latency [ms]``."""
        return f"{self.label(problem)} [{self.unit}]"

    def heading(self, *problems: Problem) -> str:
        """Return the unit for the head of a column or an axis with figures of ``problems``. An
        energy names its whole if a frame has several images, ``mJ/frame``, and in closed form its
        T, ``mJ, T = period``, if all problems have the same."""
        unit = self.unit
        if self.kind is not ObjectiveKind.ENERGY:
            return unit
        whole = {_energy_is_of(problem) for problem in problems}
        names = {idle_time_name(problem) for problem in problems}
        if len(whole) == 1:
            unit += whole.pop()
        return f"{unit}, {names.pop()}" if len(names) == 1 and names != {""} else unit

    def shown(self, value: int) -> float:
        """Return the file's integer in the display unit: ms, mJ, W, %, or a rate per second.

        A throughput is one over the time per image, an efficiency 1 J over the energy per image
        (infinite if that is 0).
        """
        return self.kind.spec.display(value)

    def text(self, value: int) -> str:
        """Return the file's integer as displayed, with its unit: ``13.65 ms``."""
        return f"{format_number(self.shown(value))} {self.unit}"

    def bound(self, value: int, decimals: int) -> float:
        """Return a least value as displayed, rounded such that it stays a bound: up if larger is
        better, else down."""
        exact = self.shown(value)
        if not math.isfinite(exact):
            return exact
        rounding = ROUND_CEILING if self.larger_is_better else ROUND_FLOOR
        # The shortest decimals of a float, so 2.000001 does not become 2.000000.
        return float(Decimal(repr(exact)).quantize(Decimal(1).scaleb(-decimals), rounding))

    def format(self, values: Sequence[int], more: int = 0) -> list[str]:
        """Return values as displayed, without the unit, all with the same number of decimals:
        ``more`` than four significant digits need."""
        numbers = [self.shown(value) for value in values]
        decimals = max((_decimals(number) for number in numbers), default=0) + more
        return [f"{number:.{decimals}f}" for number in numbers]


@dataclass(frozen=True)
class ObjectiveSpec:
    """One kind of objective."""

    file_name: str
    """Key in ``front.json``, unit included."""
    label: str
    """For people, without the unit."""
    unit: str
    """Unit of the displayed value."""
    best: str
    """Name of the member that is best at it."""
    display: Callable[[int], float]
    """From the file's integer to the displayed value."""
    models: tuple[type[ExecutionModel], ...] = EXECUTION_MODELS
    """Execution models that have it."""
    larger_is_better: bool = False
    """Whether people maximise the displayed value."""
    needs_frame: bool = False
    """Whether one frame alone must be simulated for it."""
    of_one_network: bool = False
    """Whether it can be narrowed to one network."""
    needs_network: bool = False
    """Whether it is always of one network."""
    meaning: str = ""
    """For people, if the label does not say it."""
    of_power: bool = False
    """Whether it is 0 if no power is known."""
    unit_table: str | None = None
    """Table of a unit that it adds up over the groups, whatever the clocks: each unit must have it
    if the figure is an objective or limited."""


def _part(own: OwnObjective, text: str, names: Sequence[str]) -> Objective:
    kind, colon, network = text.partition(":")
    if colon and network not in names:
        raise ResultError(
            f"objective {own.name!r}: {text!r}: there is no network {network!r} "
            f"(there are {', '.join(names)})"
        )
    return Objective(ObjectiveKind(kind), names.index(network) if colon else None)


def _divided(by: int) -> Callable[[int], float]:
    return lambda value: value / by


def _negated(by: int) -> Callable[[int], float]:
    return lambda value: -value / by


def _inverted(of: int) -> Callable[[int], float]:
    """Return one over a value, or infinity if the value is 0."""
    return lambda value: of / value if value else float("inf")


_WITH_FRAME = tuple(m for m in EXECUTION_MODELS if m.has_frame and m is not Rates)
_WITH_OVERLAP = tuple(model for model in EXECUTION_MODELS if model.frames_overlap)


_of_frame = partial(ObjectiveSpec, models=_WITH_FRAME, needs_frame=True)
"""An objective of one frame of all networks, simulated alone."""
_of_responses = partial(ObjectiveSpec, models=(Rates,), needs_frame=True, of_one_network=True)
"""An objective of networks with rates: of the responses of all, or of one."""

# Name in front.json, label, unit, name of the best member, and the displayed value.
OBJECTIVES = {
    ObjectiveKind.LATENCY: _of_frame(
        *("latency_ps", "latency", "ms", "fastest", _divided(PS_PER_MS)), of_one_network=True
    ),
    ObjectiveKind.GUARANTEED_LATENCY: ObjectiveSpec(
        *("guaranteed_latency_ps", "guaranteed latency", "ms", "fastest for sure"),
        *(_divided(PS_PER_MS), (OneFrame, Periodic)),
        of_one_network=True,
    ),
    ObjectiveKind.INVERSE_LATENCY: _of_frame(
        *("negative_rate_sum_uhz", "rate", "inferences/s", "best rate", _negated(UHZ_PER_HZ)),
        larger_is_better=True,
    ),
    ObjectiveKind.THROUGHPUT: ObjectiveSpec(
        *("time_per_image_ps", "throughput", "images/s", "most images/s", _inverted(PS_PER_S)),
        models=_WITH_OVERLAP,
        larger_is_better=True,
    ),
    ObjectiveKind.ENERGY: ObjectiveSpec(
        *("energy_fj", "energy", "mJ", "lowest energy", _divided(FJ_PER_MJ)), of_power=True
    ),
    ObjectiveKind.POWER: ObjectiveSpec(
        *("power_uw", "power", "W", "least power", _divided(UW_PER_W)), of_power=True
    ),
    ObjectiveKind.EFFICIENCY: ObjectiveSpec(
        *("energy_per_image_fj", "efficiency", "images/J", "most efficient", _inverted(FJ_PER_J)),
        larger_is_better=True,
        of_power=True,
    ),
    ObjectiveKind.STRETCH: _of_frame(
        *("stretch_ppm", "stretch", "%", "least stretch", _divided(PPM_PER_PERCENT)),
        meaning="time that contention adds, as a share of the time without it",
        models=(*_WITH_FRAME, Rates),
    ),
    ObjectiveKind.FAIRNESS: ObjectiveSpec(
        *("negative_fairness_ppm", "fairness", "%", "fairest", _negated(PPM_PER_PERCENT)),
        meaning="smallest rate of a network, as a share of its rate alone",
        models=(FreeRunning,),
        larger_is_better=True,
    ),
    ObjectiveKind.TOKEN_RATE: _of_frame(
        *("time_per_token_ps", "token rate", "tokens/s", "most tokens/s", _inverted(PS_PER_S)),
        larger_is_better=True,
        of_one_network=True,
        needs_network=True,
    ),
    ObjectiveKind.TOKEN_ENERGY: ObjectiveSpec(
        *("energy_per_token_fj", "energy per token", "mJ", "least energy per token"),
        *(_divided(FJ_PER_MJ), _WITH_FRAME),
        of_one_network=True,
        needs_network=True,
        of_power=True,
    ),
    ObjectiveKind.RELATIVE_RESPONSE: _of_responses(
        *("relative_response_ppm", "relative response", "%", "most timely"),
        _divided(PPM_PER_PERCENT),
        meaning="longest response, as a share of the time between releases",
    ),
    ObjectiveKind.RESPONSE: _of_responses(
        "response_ps", "response", "ms", "fastest response", _divided(PS_PER_MS)
    ),
    ObjectiveKind.GUARANTEED_RESPONSE: _of_responses(
        *("guaranteed_response_ps", "guaranteed response", "ms", "fastest response for sure"),
        _divided(PS_PER_MS),
    ),
    ObjectiveKind.RESPONSE_95: _of_responses(
        "response_95_ps", "95th percentile", "ms", "fastest 95 %", _divided(PS_PER_MS)
    ),
    ObjectiveKind.JITTER: _of_responses(
        "jitter_ps", "jitter", "ms", "steadiest", _divided(PS_PER_MS)
    ),
    ObjectiveKind.MISSES: _of_responses("misses", "misses", "a period", "fewest misses", float),
    ObjectiveKind.ACCURACY_LOSS: ObjectiveSpec(
        *("accuracy_loss_ppm", "accuracy loss", "%", "least accuracy loss"),
        _divided(PPM_PER_PERCENT),
        of_one_network=True,
        unit_table="loss_ppm",
    ),
    ObjectiveKind.MEMORY: ObjectiveSpec(
        *("memory_bytes", "memory", "MB", "least memory", _divided(BYTES_PER_MB)),
        unit_table="weight_bytes",
    ),
}
"""Every kind of objective."""

_IDLE_TIMES = {IdleTime.PERIOD: "T = period", IdleTime.SUM_OF_LOADS: "T = sum of loads"}


def shown_values(objectives: Sequence[Objective], values: Sequence[int]) -> tuple[float, ...]:
    """Return a value of each objective in its display unit."""
    return tuple(one.shown(value) for one, value in zip(objectives, values, strict=True))


def displayed(problem: Problem, values: Sequence[int]) -> dict[str, float]:
    """Return values by the titles of all objectives: ``{"latency [ms]": 13.65}``."""
    titles = (objective.title(problem) for objective in problem.objectives)
    return dict(zip(titles, shown_values(problem.objectives, values), strict=True))


def idle_time_name(problem: Problem) -> str:
    """Return which T the energy of the closed form has (Tang, Eq. 9-12). Empty under other
    models."""
    execution = problem.execution
    return _IDLE_TIMES[execution.idle_time] if isinstance(execution, ClosedForm) else ""


def _energy_is_of(problem: Problem) -> str:
    rates = ObjectiveKind.THROUGHPUT in {objective.kind for objective in problem.objectives}
    # Beside a rate, energy is taken to be an image's.
    if sum(problem.images) == 1 or (
        max(problem.images) == 1 and problem.execution.has_frame and not rates
    ):
        return ""
    if not problem.execution.has_frame:
        return "/image"
    return "/period" if problem.has_rates else "/frame"


def format_number(value: float) -> str:
    """Return four significant digits, without an exponent and with all digits before the point."""
    return f"{value:.{_decimals(value)}f}"


def significant(value: float, digits: int = 4) -> str:
    """Return significant digits, and all of those before the point, without an exponent or zeros at
    the end."""
    text = f"{value:.{max(digits, len(f'{abs(value):.0f}'))}g}"
    return f"{Decimal(text):f}" if "e" in text else text


def _decimals(value: float) -> int:
    for limit, decimals in ((1000, 0), (100, 1), (10, 2), (1, 3)):
        if round(abs(value), decimals) >= limit:
            return decimals
    return 4 if value else 0
