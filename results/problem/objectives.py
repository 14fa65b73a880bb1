"""Objectives as files and people see them: names with units, values in ms, mJ, W, per second.

In files every objective is an integer that is minimised; what people maximise (throughput, rates)
is turned back for display.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results.problem.pipeline_model import PipelineTime
from results.problem.problem import Objective, ObjectiveKind, Problem

FILE_NAMES = {
    ObjectiveKind.LATENCY: "latency_ps",
    ObjectiveKind.INVERSE_LATENCY: "negative_rate_sum_uhz",
    ObjectiveKind.THROUGHPUT: "frame_period_ps",
    ObjectiveKind.ENERGY: "energy_fj",
    ObjectiveKind.POWER: "power_uw",
    ObjectiveKind.EFFICIENCY: "energy_per_inference_fj",
    ObjectiveKind.STRETCH: "stretch_ppm",
    ObjectiveKind.FAIRNESS: "negative_fairness_ppm",
}


@dataclass(frozen=True)
class _Display:
    label: str
    unit: str
    larger_is_better: bool = False


_DISPLAYS = {
    ObjectiveKind.LATENCY: _Display("latency", "ms"),
    ObjectiveKind.INVERSE_LATENCY: _Display("rate", "inferences/s", larger_is_better=True),
    ObjectiveKind.THROUGHPUT: _Display("throughput", "frames/s", larger_is_better=True),
    ObjectiveKind.ENERGY: _Display("energy", "mJ"),
    ObjectiveKind.POWER: _Display("power", "W"),
    ObjectiveKind.EFFICIENCY: _Display("efficiency", "inferences/J", larger_is_better=True),
    ObjectiveKind.STRETCH: _Display("stretch", "%"),
    ObjectiveKind.FAIRNESS: _Display("fairness", "%", larger_is_better=True),
}

_IDLE_TIMES = {
    PipelineTime.PERIOD: "T = period",
    PipelineTime.SUM_OF_LOADS: "T = sum of loads",
}

_PS_PER_MS = 10**9
_FJ_PER_MJ = 10**12
_FJ_PER_J = 10**15
_UW_PER_W = 10**6
_PPM_PER_PERCENT = 10**4
_UHZ_PER_HZ = 10**6
_PS_PER_S = 10**12


def objective_name(problem: Problem, objective: Objective) -> str:
    """Name in ``front.json``, unit included: ``latency_ps``, ``latency_ps:NETWORK``, ..."""
    name = FILE_NAMES[objective.kind]
    if objective.network is None:
        return name
    return f"{name}:{problem.networks[objective.network].name}"


def objective_names(problem: Problem) -> tuple[str, ...]:
    """Names of all objectives, in the problem's order."""
    return tuple(objective_name(problem, objective) for objective in problem.objectives)


def objective_label(problem: Problem, objective: Objective) -> str:
    """Name for people, without the unit: ``latency``, ``latency of NETWORK``."""
    label = _DISPLAYS[objective.kind].label
    if objective.network is None:
        return label
    return f"{label} of {problem.networks[objective.network].name}"


def objective_unit(objective: Objective) -> str:
    """Unit of :func:`objective_value`."""
    return _DISPLAYS[objective.kind].unit


def idle_time_name(problem: Problem) -> str:
    """Which T the energy of an analytic pipeline has (Tang, Eq. 9-12); empty on the timeline."""
    return _IDLE_TIMES[problem.pipeline_time] if problem.is_analytic else ""


def unit_heading(objective: Objective, *problems: Problem) -> str:
    """Unit for the head of a column or an axis with figures of ``problems``. An analytic energy
    names its T, where all have the same: ``mJ, T = period``."""
    unit, names = objective_unit(objective), {idle_time_name(problem) for problem in problems}
    if objective.kind is not ObjectiveKind.ENERGY or len(names) > 1 or names == {""}:
        return unit
    return f"{unit}, {names.pop()}"


def larger_is_better(objective: Objective) -> bool:
    """Whether people maximise :func:`objective_value`."""
    return _DISPLAYS[objective.kind].larger_is_better


def objective_value(objective: Objective, value: int) -> float:
    """The file's integer in the unit for people: ms, mJ, W, %, or a rate per second.

    A throughput is one over the frame period, an efficiency 1 J over the energy of an inference
    (infinite where that is nothing).
    """
    match objective.kind:
        case ObjectiveKind.LATENCY:
            return value / _PS_PER_MS
        case ObjectiveKind.ENERGY:
            return value / _FJ_PER_MJ
        case ObjectiveKind.POWER:
            return value / _UW_PER_W
        case ObjectiveKind.STRETCH:
            return value / _PPM_PER_PERCENT
        case ObjectiveKind.FAIRNESS:
            return -value / _PPM_PER_PERCENT
        case ObjectiveKind.INVERSE_LATENCY:
            return -value / _UHZ_PER_HZ
        case ObjectiveKind.EFFICIENCY:
            return _FJ_PER_J / value if value else float("inf")
        case ObjectiveKind.THROUGHPUT:
            return _PS_PER_S / value if value else float("inf")


def format_objectives(objective: Objective, values: Sequence[int]) -> list[str]:
    """:func:`objective_value` of each, without its unit, all with the same number of decimals."""
    numbers = [objective_value(objective, value) for value in values]
    decimals = max((_decimals(number) for number in numbers), default=0)
    return [f"{number:.{decimals}f}" for number in numbers]


def format_number(value: float) -> str:
    """Four significant digits, but never an exponent and no digit before the point dropped."""
    return f"{value:.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    for limit, decimals in ((1000, 0), (100, 1), (10, 2), (1, 3)):
        if round(abs(value), decimals) >= limit:
            return decimals
    return 4 if value else 0
