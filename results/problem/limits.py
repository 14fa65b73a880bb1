"""Limits of a problem: one table, from which files, checks, searches, proofs and texts take them.

A new limit has its field in :mod:`results.problem.problem` and a spec here. If no objective has its
figure, the figure is computed in :mod:`fitness.objectives`. A bound on it is optional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from paretosoc.common.units import (
    BYTES_PER_MB,
    FJ_PER_MJ,
    PPM_PER_PERCENT,
    PS_PER_MS,
    UHZ_PER_HZ,
    UW_PER_MW,
    UW_PER_W,
)
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.execution import (
    EXECUTION_MODELS,
    ExecutionModel,
    FreeRunning,
    Periodic,
    Rates,
)
from paretosoc.results.problem.objectives import OBJECTIVES, Objective, ObjectiveKind

if TYPE_CHECKING:
    from paretosoc.common.arrays import IntArray
    from paretosoc.results.problem.problem import Problem

UNITS = {
    "": (1, ""),
    "ps": (PS_PER_MS, "ms"),
    "uW": (UW_PER_W, "W"),
    "fJ": (FJ_PER_MJ, "mJ"),
    "B": (BYTES_PER_MB, "MB"),
    "uHz": (UHZ_PER_HZ, "images/s"),
    "ppm": (PPM_PER_PERCENT, "%"),
}
"""From the unit of a figure to its factor and unit for people."""


class Of(Enum):
    """The owner of a limit. Values are fields of a problem. A pool is a memory pool."""

    NETWORK = "networks"
    UNIT = "units"
    POOL = "memory_pools"
    ALL = ""

    def of(self, problem: Problem) -> Sequence[Any]:
        """Return the owners in a problem."""
        return (problem,) if self is Of.ALL else getattr(problem, self.value)


@dataclass(frozen=True, eq=False)
class LimitSpec:
    """One kind of limit. The figure must be at most the limit, or with ``is_least`` at least."""

    words: str
    """Words for the figure."""
    unit: str
    """Unit of the figure, a key of ``UNITS``."""
    of: Of
    field: str | None = None
    """Field of the owner. None: the limit follows from the execution model, see ``value``."""
    scale: int = 1
    """Figures per 1 of the field."""
    figure: ObjectiveKind | None = None
    """Objective with the figure, or one that is smaller as the figure comes nearer to the limit."""
    models: tuple[type[ExecutionModel], ...] = EXECUTION_MODELS
    """Execution models that have it."""
    is_least: bool = False
    value: Callable[[Problem], int] | None = None
    """Limit of a problem if there is no ``field``."""
    unless: str | None = None
    """Field of the owner that takes the place of this limit."""
    counts: str | None = None
    """Name of the things in a mapping that the limit counts. Such a limit is kept by the choice of
    units alone."""
    source: str = "asked for"
    is_asked: bool = True
    """Whether a user can set it. If not, it is of the chip or of the model."""
    compared: str = ""
    """Words for comparing two problems."""
    described: str | None = None
    """Words in the description of a space, or None for ``words``."""
    guaranteed: bool | None = None
    """Given: only problems that guarantee their deadlines have the limit, or only others."""
    is_described_last: bool = False
    is_optional: bool = False
    """Whether ``problem.json`` leaves it out if there is none, instead of writing null."""

    @property
    def at(self) -> str:
        """Return the words between a figure and its limit."""
        return "at least" if self.is_least else "at most"

    def applies(self, problem: Problem) -> bool:
        """Return whether problems of this execution model, with or without guarantees, may have the
        limit."""
        models = type(problem.execution) in self.models
        return models and self.guaranteed in (None, problem.guarantee)

    def values(self, problem: Problem) -> Iterator[tuple[int, int]]:
        """Yield the index of each owner that has the limit, and the value of its field."""
        if not self.applies(problem):
            return
        if self.field is None:
            assert self.value is not None, "LIMITS"
            yield 0, self.value(problem)
            return
        for index, owner in enumerate(self.of.of(problem)):
            value = getattr(owner, self.field)
            if value is not None:
                yield index, value


_OF_FRAME = tuple(model for model in EXECUTION_MODELS if model.has_frame and model is not Rates)


_of_responses = partial(LimitSpec, models=(Rates,), is_optional=True)
"""A limit of the responses of a network with a rate of its own."""

# Words for the figure, its unit, the owner, and the owner's field.
TRANSITIONS = LimitSpec(
    *("transitions", "", Of.NETWORK, "max_transitions"),
    counts="transition",
    source="(asked for, or by default)",
    compared="most transitions",
)
SEGMENTS = LimitSpec(
    *("segments", "", Of.UNIT, "max_segments"),
    counts="segment",
    source="on this chip",
    is_asked=False,
)
LOSS = LimitSpec(
    *("accuracy loss", "ppm", Of.NETWORK, "max_loss_ppm"),
    figure=ObjectiveKind.ACCURACY_LOSS,
    compared="most accuracy loss",
    is_optional=True,
)
MEMORY = LimitSpec(
    *("memory", "B", Of.ALL, "memory_cap_bytes"),
    figure=ObjectiveKind.MEMORY,
    source="(asked for, or of the board)",
    compared="memory cap",
    is_described_last=True,
    is_optional=True,
)
POOL = replace(MEMORY, of=Of.POOL, field="cap_bytes", is_optional=False)
DEADLINE = LimitSpec(
    *("latency", "ps", Of.NETWORK, "deadline_ps"),
    figure=ObjectiveKind.LATENCY,
    models=_OF_FRAME,
    compared="deadline",
    guaranteed=False,
)
GUARANTEED_DEADLINE = replace(
    DEADLINE,
    words="guaranteed latency",
    figure=ObjectiveKind.GUARANTEED_LATENCY,
    models=OBJECTIVES[ObjectiveKind.GUARANTEED_LATENCY].models,
    guaranteed=True,
)
RESPONSE = replace(
    DEADLINE, words="response", figure=ObjectiveKind.RESPONSE, models=(Rates,), unless="max_misses"
)
"""A deadline of a network with a rate. It also defines the late responses, so it cannot be lifted
alone."""
GUARANTEED_RESPONSE = replace(
    RESPONSE, words="guaranteed response", figure=ObjectiveKind.GUARANTEED_RESPONSE, guaranteed=True
)
RESPONSES = (RESPONSE, GUARANTEED_RESPONSE)
DEADLINES = (DEADLINE, GUARANTEED_DEADLINE, *RESPONSES)
"""Kinds of deadline. A network with one has one of them."""
RESPONSE_95 = _of_responses(
    *("95th percentile", "ps", Of.NETWORK, "deadline_95_ps"),
    figure=ObjectiveKind.RESPONSE_95,
    compared="95th percentile",
    is_described_last=True,
)
JITTER = _of_responses(
    *("jitter", "ps", Of.NETWORK, "max_jitter_ps"),
    figure=ObjectiveKind.JITTER,
    compared="most jitter",
    is_described_last=True,
)
MISSES = _of_responses(
    *("misses", "", Of.NETWORK, "max_misses"), figure=ObjectiveKind.MISSES, compared="most misses"
)
RATE = LimitSpec(
    *("rate", "uHz", Of.NETWORK, "min_rate_uhz"),
    models=(FreeRunning,),
    is_least=True,
    compared="least rate",
    is_described_last=True,
)
PERIOD = LimitSpec(
    words="makespan within the period",
    unit="ps",
    of=Of.ALL,
    figure=ObjectiveKind.LATENCY,
    models=(Periodic,),
    value=lambda problem: problem.execution.period_ps or 0,
    guaranteed=False,
)
GUARANTEED_PERIOD = replace(
    PERIOD,
    words="guaranteed makespan within the period",
    figure=ObjectiveKind.GUARANTEED_LATENCY,
    models=(Periodic, Rates),
    guaranteed=True,
)
OVERLOAD = LimitSpec(
    words="time until all recurs",
    unit="ps",
    of=Of.ALL,
    figure=ObjectiveKind.RELATIVE_RESPONSE,
    models=(Rates,),
    value=lambda problem: MAX_PERIODS * (problem.execution.period_ps or 0),
    source="or it is overloaded",
    is_asked=False,
)
POWER = LimitSpec(
    *("power", "uW", Of.ALL, "power_cap_mw"),
    scale=UW_PER_MW,
    figure=ObjectiveKind.POWER,
    compared="power cap",
    described="mean power",
)
ENERGY = LimitSpec(
    *("energy", "fJ", Of.ALL, "energy_budget_fj"),
    figure=ObjectiveKind.ENERGY,
    compared="energy budget",
)

LIMITS = [
    *(TRANSITIONS, SEGMENTS, LOSS, MEMORY, POOL),
    *(DEADLINE, GUARANTEED_DEADLINE, RESPONSE, GUARANTEED_RESPONSE),
    *(RESPONSE_95, JITTER, MISSES),
    *(RATE, PERIOD, GUARANTEED_PERIOD, OVERLOAD, POWER, ENERGY),
]
"""Every kind of limit, in the order of :func:`constraints_of`."""
OVER_TIME = (POWER, ENERGY)
"""Limits of the power and energy of the whole chip."""


@dataclass(frozen=True)
class Constraint:
    """A limit of a problem. The figure of a design point must be at most ``limit``. A least value
    and its figure are negative."""

    kind: LimitSpec
    name: str
    limit: int
    index: int | None = None
    """Index of the owner. None: all owners."""

    @property
    def unit(self) -> str:
        """Return the unit of figure and limit."""
        return self.kind.unit

    @property
    def is_least(self) -> bool:
        """Return whether a least value is asked for."""
        return self.kind.is_least


def constraints_of(problem: Problem) -> tuple[Constraint, ...]:
    """Return the limits of a problem, in the order of ``Outcomes.constraint_values``."""
    return tuple(
        Constraint(
            kind,
            name=_name(problem, kind, index),
            limit=value * (-kind.scale if kind.is_least else kind.scale),
            index=None if kind.of is Of.ALL else index,
        )
        for kind in LIMITS
        for index, value in kind.values(problem)
        if kind.unless is None or getattr(kind.of.of(problem)[index], kind.unless) is None
    )


def _name(problem: Problem, kind: LimitSpec, index: int) -> str:
    match kind.of:
        case Of.ALL:
            return kind.words
        case Of.UNIT:
            return f"{kind.words} on {problem.units[index].unit_name}"
        case _:
            return f"{kind.words} of {kind.of.of(problem)[index].name}"


def fields_of(owner: Of) -> dict[str, list[LimitSpec]]:
    """Return the fields of one kind of owner that set limits, each with its limits: with several,
    the execution model says which."""
    fields: dict[str, list[LimitSpec]] = {}
    for kind in LIMITS:
        if kind.of is owner and kind.field is not None:
            fields.setdefault(kind.field, []).append(kind)
    return fields


def with_limit(problem: Problem, kind: LimitSpec, index: int | None, value: int | None) -> Problem:
    """Return the problem with another value, or None, in the field of one limit.

    ``index`` is the owner's, None for the limit of all.
    """
    assert kind.field is not None, "a limit that can be set"
    changed: dict[str, Any] = {kind.field: value}
    if kind.of is Of.ALL:
        return replace(problem, **changed)
    owners = list(kind.of.of(problem))
    assert index is not None, "a limit of one owner"
    owners[index] = replace(owners[index], **changed)
    changed = {kind.of.value: tuple(owners)}
    return replace(problem, **changed)


def without_limits(problem: Problem, kinds: Sequence[LimitSpec]) -> Problem:
    """Return the problem without any limit of these kinds."""
    for kind in kinds:
        for index, _ in list(kind.values(problem)):
            problem = with_limit(problem, kind, index, None)
    return problem


def limits_power(problem: Problem) -> bool:
    """Return whether the power or energy of the whole chip is limited."""
    return any(True for kind in OVER_TIME for _ in kind.values(problem))


def limits_by_owner(problem: Problem, kind: LimitSpec) -> IntArray:
    """Return the limit of every owner, [owners], -1 if it has none."""
    import numpy as np

    values: IntArray = np.full(len(kind.of.of(problem)), -1, dtype=np.int64)
    for index, value in kind.values(problem):
        values[index] = value
    return values


def additive_figures(problem: Problem) -> tuple[Objective, ...]:
    """Return the figures that are sums over the groups, whatever the clocks, and are objectives or
    limited, each once. Empty if networks run freely, since their bounds over boxes do not include
    them."""
    if not problem.execution.has_frame:
        return ()
    asked = [objective for objective in problem.objectives if objective.kind.spec.unit_table]
    return tuple(dict.fromkeys((*asked, *_additive_limits(problem))))


def additive_limit(problem: Problem, figure: Objective) -> int | None:
    """Return the most that a problem allows of one of its :func:`additive_figures`."""
    return _additive_limits(problem).get(figure)


def _additive_limits(problem: Problem) -> dict[Objective, int]:
    """Return the limited figures with their limits. That of a pool is no objective."""
    return {
        Objective(kind.figure, None if kind.of is Of.ALL else index): value
        for kind in LIMITS
        if kind.figure is not None and kind.figure.spec.unit_table and kind.of is not Of.POOL
        for index, value in kind.values(problem)
    }
