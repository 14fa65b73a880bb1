"""Objectives and constraint violations of whole populations, in integers.

Every objective is minimised and has the name and unit that :mod:`results.problem.objectives` gives
it:

* latency: the makespan of one frame alone (Eq. 11 of HaX-CoNN), or one network's latency, ps;
* inverse-latency: -sum over networks of floor(10^18 ps / T_n), in uHz (Eq. 10);
* throughput: the time from frame to frame in the long run, ps (:mod:`fitness.simulate_long_run`);
  of an analytic pipeline (Tang Eq. 1-7) the largest load;
* energy: fJ over the whole time W of the energy use: idle power x W + dynamic energy. *frame*: one
  frame, W its makespan; *periodic*: one frame, W the period; *pipeline*: mean power in the long run
  times the frame period; of an analytic pipeline one frame, W by its ``pipeline_time`` (Tang Eq.
  8-13);
* power: that energy over that time, in uW, rounded down; of a pipeline that is simulated the mean
  in the long run;
* efficiency: that energy over the networks, fJ: energy of an inference, rounded down;
* stretch: what contention adds to the time that units are busy, ppm, rounded down;
* fairness: minus the smallest relative rate of a network (:mod:`results.problem.rates`), ppm.

Where networks run freely, throughput is the period that belongs to the mean of their rates, energy
and efficiency both the mean power over the sum of their rates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from fitness.closed_form import make_load_evaluator
from fitness.simulate import BoolArray, Evaluation, Evaluator, IntArray, make_evaluator
from fitness.simulate_long_run import make_long_run_evaluator
from results.problem.problem import EnergyUse, Objective, ObjectiveKind, Problem
from results.problem.rates import UHZ_PS, relative_rates_ppm


class ConstraintKind(Enum):
    """What a constraint limits."""

    TRANSITIONS = "transitions"
    SEGMENTS = "segments"
    DEADLINE = "deadline"
    RATE = "rate"
    PERIOD = "period"
    POWER = "power"
    ENERGY = "energy"


@dataclass(frozen=True)
class Constraint:
    """A limit on one figure of a design point: the figure must be at most ``limit``.

    Of a rate, which must be at least something, figure and limit are negative.

    ``network``: the index of the one whose transitions, latency or rate are limited.
    """

    kind: ConstraintKind
    name: str
    limit: int
    unit: str
    network: int | None = None

    @property
    def is_least(self) -> bool:
        """Whether a least value is asked for, so that figure and limit are negative."""
        return self.kind is ConstraintKind.RATE


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What n design points give; rows of impossible ones mean nothing."""

    possible: BoolArray
    """[n]"""
    objectives: IntArray
    """[n, objectives]"""
    figures: IntArray
    """[n, constraints]: what each constraint limits."""
    feasible: BoolArray
    """[n]: possible, and every figure within its limit."""


OutcomeFunction = Callable[[IntArray], Outcomes]


def constraints_of(problem: Problem) -> tuple[Constraint, ...]:
    """The limits of a problem, in the order of ``Outcomes.figures``."""
    limits = [
        Constraint(
            ConstraintKind.TRANSITIONS,
            f"transitions of {network.name}",
            network.max_transitions,
            "",
            n,
        )
        for n, network in enumerate(problem.networks)
        if network.max_transitions is not None
    ]
    limits += [
        Constraint(ConstraintKind.SEGMENTS, f"segments on {unit.name}", unit.max_segments, "")
        for unit in problem.units
        if unit.max_segments is not None
    ]
    limits += [
        Constraint(
            ConstraintKind.DEADLINE, f"latency of {network.name}", network.deadline_ps, "ps", n
        )
        for n, network in enumerate(problem.networks)
        if network.deadline_ps is not None
    ]
    limits += [
        Constraint(ConstraintKind.RATE, f"rate of {network.name}", -network.min_rate_uhz, "uHz", n)
        for n, network in enumerate(problem.networks)
        if network.min_rate_uhz is not None
    ]
    if problem.period_ps is not None:
        name = "makespan within the period"
        limits.append(Constraint(ConstraintKind.PERIOD, name, problem.period_ps, "ps"))
    if problem.power_cap_mw is not None:
        cap = problem.power_cap_mw * 1000
        limits.append(Constraint(ConstraintKind.POWER, "power", cap, "uW"))
    if problem.energy_budget_fj is not None:
        limits.append(Constraint(ConstraintKind.ENERGY, "energy", problem.energy_budget_fj, "fJ"))
    return tuple(limits)


@dataclass(frozen=True, eq=False)
class EnergyAccount:
    """What a frame takes and draws over the whole time W of the energy use, arrays [n]."""

    possible: BoolArray
    frame_period_ps: IntArray
    """From frame to frame of the pipeline, of networks that run freely in the mean; 0 where there
    is neither."""
    time_ps: IntArray
    """W, at least 1."""
    energy_fj: IntArray
    """Over W; of an inference where networks run freely."""
    power_uw: tuple[IntArray, IntArray]
    """Mean power, rounded down and rounded up."""
    stream_period_ps: IntArray | None = None
    """[n, networks]: from frame to frame, of networks that run freely."""


def make_outcomes(
    problem: Problem, *, jobs: int = 1, play: Evaluator | None = None
) -> OutcomeFunction:
    """A function from rows [n, groups + domains] to objectives and what constraints limit.

    ``play``: what one frame gives, where that is not to come from the timeline.
    """
    if play is None and _needs_frame(problem):
        play = make_evaluator(problem, jobs=jobs)
    energy_account = make_energy_account(problem, jobs=jobs)
    limits = np.array([entry.limit for entry in constraints_of(problem)], dtype=np.int64)
    count_segments = make_segment_counter(problem)

    def evaluate(rows: IntArray) -> Outcomes:
        rows = np.asarray(rows, dtype=np.int64)
        frame = None if play is None else play(rows)
        whole = energy_account(rows, frame)
        energy = whole.energy_fj
        columns = [_objective(problem, entry, rows, frame, whole) for entry in problem.objectives]
        figures: list[IntArray] = []
        if any(entry.kind in _COUNTED for entry in constraints_of(problem)):
            transitions, segments = count_segments(rows)
            figures += [
                transitions[:, n]
                for n, network in enumerate(problem.networks)
                if network.max_transitions is not None
            ]
            figures += [
                segments[:, u]
                for u, unit in enumerate(problem.units)
                if unit.max_segments is not None
            ]
        if frame is not None:
            figures += [
                frame.latency_ps[:, n]
                for n, network in enumerate(problem.networks)
                if network.deadline_ps is not None
            ]
        if whole.stream_period_ps is not None:
            figures += [
                -(UHZ_PS // whole.stream_period_ps[:, n])
                for n, network in enumerate(problem.networks)
                if network.min_rate_uhz is not None
            ]
        if problem.period_ps is not None and frame is not None:
            figures.append(frame.makespan_ps)
        if problem.power_cap_mw is not None:
            # Rounded up: a power just above the cap must not pass for the cap.
            figures.append(whole.power_uw[1])
        if problem.energy_budget_fj is not None:
            figures.append(energy)
        table = np.stack(figures, axis=1) if figures else np.zeros((len(rows), 0), dtype=np.int64)
        return Outcomes(
            possible=whole.possible,
            objectives=np.stack(columns, axis=1),
            figures=table,
            feasible=whole.possible & (table <= limits).all(axis=1),
        )

    return evaluate


_COUNTED = (ConstraintKind.TRANSITIONS, ConstraintKind.SEGMENTS)
_OF_NO_FRAME = (
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.ENERGY,
    ObjectiveKind.POWER,
    ObjectiveKind.EFFICIENCY,
    ObjectiveKind.FAIRNESS,
)


def _needs_frame(problem: Problem) -> bool:
    """Whether a frame must be simulated: always, but for pipelines where nothing asked for looks at
    one frame."""
    return (
        problem.energy_use is not EnergyUse.PIPELINE
        or problem.period_ps is not None
        or any(network.deadline_ps is not None for network in problem.networks)
        or any(objective.kind not in _OF_NO_FRAME for objective in problem.objectives)
    )


EnergyAccountFunction = Callable[[IntArray, Evaluation | None], EnergyAccount]


def make_energy_account(problem: Problem, *, jobs: int = 1) -> EnergyAccountFunction:
    """A function from rows, and what one frame alone gives, to time and energy; pipelines do not
    look at the frame."""
    if problem.is_analytic:
        load = make_load_evaluator(problem, jobs=jobs)

        def closed_form(rows: IntArray, frame: Evaluation | None) -> EnergyAccount:
            del frame
            loads = load(rows)
            return _whole_time(
                loads.possible,
                loads.period_ps,
                np.maximum(loads.idle_time_ps, 1),
                loads.energy_fj,
            )

        return closed_form
    if problem.energy_use is EnergyUse.PIPELINE:
        return _make_long_run(problem, jobs)

    def played(rows: IntArray, frame: Evaluation | None) -> EnergyAccount:
        assert frame is not None, "only a pipeline needs no frame"
        none = np.zeros(len(rows), dtype=np.int64)
        if problem.energy_use is EnergyUse.PERIODIC:
            period = np.full(len(rows), problem.period_ps, dtype=np.int64)
            energy = frame.idle_mw * period + frame.dynamic_fj
            return _whole_time(frame.possible, none, period, energy)
        return _whole_time(frame.possible, none, np.maximum(frame.makespan_ps, 1), frame.energy_fj)

    return played


def _whole_time(
    possible: BoolArray, period: IntArray, time: IntArray, energy: IntArray
) -> EnergyAccount:
    power = (energy // time) * 1000 + (energy % time) * 1000 // time
    power_up = power + ((energy % time) * 1000 % time != 0)
    return EnergyAccount(possible, period, time, energy, (power, power_up))


def _make_long_run(problem: Problem, jobs: int) -> EnergyAccountFunction:
    """The same of pipelines and networks that run freely."""
    play_on = make_long_run_evaluator(problem, jobs=jobs)

    def run(rows: IntArray, frame: Evaluation | None) -> EnergyAccount:
        del frame
        runs = play_on(rows)
        figures = np.array(runs.energies(), dtype=np.int64).reshape(len(rows), 3)
        return EnergyAccount(
            possible=runs.possible,
            frame_period_ps=runs.frame_period_ps,
            time_ps=np.maximum(runs.frame_period_ps, 1),
            energy_fj=figures[:, 0],
            power_uw=(figures[:, 1], figures[:, 2]),
            stream_period_ps=runs.stream_period_ps if problem.free_running else None,
        )

    return run


def _objective(
    problem: Problem,
    objective: Objective,
    rows: IntArray,
    frame: Evaluation | None,
    whole: EnergyAccount,
) -> IntArray:
    match objective.kind:
        case ObjectiveKind.THROUGHPUT:
            return whole.frame_period_ps
        case ObjectiveKind.ENERGY:
            return whole.energy_fj
        case ObjectiveKind.POWER:
            return whole.power_uw[0]
        case ObjectiveKind.EFFICIENCY:
            if problem.free_running:
                return whole.energy_fj
            return whole.energy_fj // len(problem.networks)
        case ObjectiveKind.FAIRNESS:
            assert whole.stream_period_ps is not None, "check_problem"
            shares = relative_rates_ppm(problem, whole.stream_period_ps)
            return -np.asarray(shares.min(axis=1))
    assert frame is not None, "_needs_frame"
    match objective.kind:
        case ObjectiveKind.LATENCY:
            if objective.network is None:
                return frame.makespan_ps
            return frame.latency_ps[:, objective.network]
        case ObjectiveKind.INVERSE_LATENCY:
            rates: IntArray = (UHZ_PS // np.maximum(frame.latency_ps, 1)).sum(axis=1)
            return -rates
        case ObjectiveKind.STRETCH:
            alone = np.maximum(alone_times(problem, rows), 1)
            ratio, rest = np.divmod(frame.busy_ps - alone, alone)
            # A thousand twice: a million times 9.3 s of picoseconds would leave int64.
            thousandths, rest = np.divmod(rest * 1000, alone)
            stretch: IntArray = ratio * 10**6 + thousandths * 1000 + rest * 1000 // alone
            return stretch


def alone_times(problem: Problem, rows: IntArray) -> IntArray:
    """[n]: stand-alone times of all executions of a frame, added up."""
    groups = problem.group_count
    repeats = np.concatenate(
        [np.full(len(network.group_names), network.repeats) for network in problem.networks]
    )
    total = np.zeros(len(rows), dtype=np.int64)
    for u, unit in enumerate(problem.units):
        points = tuple(rows[:, groups + clock] for clock in unit.clocks)
        for g in range(groups):
            on = rows[:, g] == u
            total += np.where(on, unit.time_ps[(g, *points)] * repeats[g], 0)
    return total


def make_segment_counter(problem: Problem) -> Callable[[IntArray], tuple[IntArray, IntArray]]:
    """A function from rows to ([n, networks] transitions, [n, units] segments).

    A transition is an edge whose ends are on different units. A segment is a stretch of groups of
    one network that hand over to each other on one unit: as many as groups there that no group on
    the same unit feeds.
    """
    source = np.array([edge[0] for edge in problem.edges], dtype=np.int64)
    target = np.array([edge[1] for edge in problem.edges], dtype=np.int64)
    networks, groups = len(problem.networks), problem.group_count
    owner = np.zeros((len(problem.edges), networks), dtype=np.int64)
    for n, network in enumerate(problem.networks):
        owner[:, n] = [edge[0] in network.groups for edge in problem.edges]
    units = len(problem.units)
    limited = [u for u in range(units) if problem.units[u].max_segments is not None]

    def count(rows: IntArray) -> tuple[IntArray, IntArray]:
        mapping = rows[:, :groups]
        differs = mapping[:, source] != mapping[:, target]
        segments = np.zeros((len(rows), units), dtype=np.int64)
        if limited:
            fed = np.zeros((len(rows), groups), dtype=np.bool_)
            for e in range(len(problem.edges)):
                fed[:, target[e]] |= ~differs[:, e]
            for u in limited:
                segments[:, u] = ((mapping == u) & ~fed).sum(axis=1)
        return differs @ owner, segments

    return count
