"""Objectives and constraint violations of whole populations, in integers.

Every objective is minimised and has the name and unit of its spec
(:mod:`results.problem.objectives`):

* latency: the makespan of one frame alone (Eq. 11 of HaX-CoNN), or one network's latency, ps;
* guaranteed-latency, guaranteed-response: upper bounds on latency and response for all times in
  the problem's tolerance, if every unit keeps its order (:mod:`fitness.guarantee`), ps;
* inverse-latency: -sum over networks of floor(10^18 ps / T_n), in uHz (Eq. 10);
* throughput: the time per image in the long run, ps (:mod:`fitness.simulate_long_run`), which
  belongs to the mean over the networks of images per second; in closed form (Tang Eq. 1-7) a frame
  takes the largest load;
* energy: fJ over a time W: idle power x W + dynamic energy. *frame*: one frame, W its makespan;
  *periodic*: one frame, W the period; *pipeline*: mean power in the long run times the frame
  period; *closed-form*: one frame, W by its ``idle_time`` (Tang Eq. 8-13);
* power: that energy over that time, in uW, rounded down; in the long run the mean;
* efficiency: that energy over the images of all networks, fJ, rounded down;
* tokens-per-second: time per repeat of a network, from the end of all networks that it waits for to
  its own, ps, rounded up;
* energy-per-token: that energy over the network's repeats, fJ, rounded down;
* stretch: the time that contention adds to the busy time of units, ppm, rounded down;
* response, response-95, jitter, misses: of networks with rates, over the releases of the period:
  the longest response, their 95th percentile by nearest rank, the longest less the shortest, ps,
  how many are too late; without a network the largest, of misses the sum;
* relative-response: the longest response of a network over the time from release to release, ppm,
  rounded down;
* memory: bytes of the activations of all networks, and of the constants of all groups on their
  units, in all pools together;
* fairness: minus the smallest relative rate of a network (:mod:`results.problem.rates`), ppm;
* accuracy-loss: the summed loss of the number formats of all groups, or of those of one network, in
  millionths of the metric.

For free-running networks, energy and efficiency are both the mean power over the images per second
of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.units import PPM, UHZ_PS
from paretosoc.fitness.execution import EnergyAccount, rules_of
from paretosoc.fitness.guarantee.layout import GuaranteeFunction, make_guarantees
from paretosoc.fitness.memory import MemoryTables, memory_tables_of
from paretosoc.fitness.simulate import Evaluation, Evaluator, make_evaluator
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import (
    OVERLOAD,
    POOL,
    POWER,
    RATE,
    SEGMENTS,
    TRANSITIONS,
    Constraint,
    LimitSpec,
    constraints_of,
)
from paretosoc.results.problem.objectives import Kind, Objective, ObjectiveKind
from paretosoc.results.problem.own_objective import OwnObjective
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import relative_rates_ppm, time_per_image_ps


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Objectives and limited values of n design points. Rows of impossible ones mean nothing."""

    possible: BoolArray
    """[n]"""
    objectives: IntArray
    """[n, objectives]"""
    constraint_values: IntArray
    """[n, constraints]: the limited figure of each constraint."""
    feasible: BoolArray
    """[n]: possible, and every value within its limit."""


OutcomeFunction = Callable[[IntArray], Outcomes]
SegmentCounter = Callable[[IntArray], tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The inputs from which objectives and constraints of n design points are computed."""

    problem: Problem
    rows: IntArray
    """[n, groups + domains]"""
    account: EnergyAccount
    one_frame: Evaluation | None
    """None if none is needed."""
    memory: MemoryTables
    count_segments: SegmentCounter
    guarantee: GuaranteeFunction | None = None
    """None if nothing is guaranteed, or one frame is not the timeline's: then its latencies are
    lower bounds on guaranteed ones, too."""

    @property
    def frame(self) -> Evaluation:
        """Return the evaluation of one frame alone."""
        assert self.one_frame is not None, "needs_frame"
        return self.one_frame

    @cached_property
    def memory_bytes(self) -> IntArray:
        """Return [n, pools]: the bytes in each pool."""
        return memory_bytes(self.problem, self.memory, self.rows)

    @cached_property
    def guaranteed_ps(self) -> tuple[IntArray, IntArray]:
        """Return [n] guaranteed makespans and [n, networks] latencies."""
        if self.guarantee is None:
            return self.frame.makespan_ps, self.frame.latency_ps
        found = self.guarantee(self.rows)
        return found.makespan_ps, found.latency_ps

    @cached_property
    def counts(self) -> tuple[IntArray, IntArray]:
        """Return [n, networks] transitions and [n, units] segments."""
        return self.count_segments(self.rows)

    @property
    def stream_period_ps(self) -> IntArray:
        """Return [n, networks]: frame periods of free-running networks."""
        assert self.account.stream_period_ps is not None, "check_problem"
        return self.account.stream_period_ps


def make_outcomes(
    problem: Problem, *, jobs: int = 1, simulate: Evaluator | None = None
) -> OutcomeFunction:
    """Return a function from rows [n, groups + domains] to objectives and limited values.

    ``simulate``: the evaluator of one frame, if it is not to come from the timeline.
    """
    guarantee = None
    if simulate is None:
        if guarantees(problem):
            guarantee = make_guarantees(problem, tolerance_of(problem), jobs=jobs)
        if needs_frame(problem):
            simulate = make_evaluator(problem, jobs=jobs)
    account = rules_of(problem).make_account(problem, jobs)
    constraints = constraints_of(problem)
    limits = np.array([entry.limit for entry in constraints], dtype=np.int64)
    count_segments = make_segment_counter(problem)
    memory = memory_tables_of(problem)

    def evaluate(rows: IntArray) -> Outcomes:
        rows = np.asarray(rows, dtype=np.int64)
        frame = None if simulate is None else simulate(rows)
        found = Evaluated(
            problem, rows, account(rows, frame), frame, memory, count_segments, guarantee
        )
        objectives = np.empty((len(rows), len(problem.objectives)), dtype=np.int64)
        for column, objective in enumerate(problem.objectives):
            objectives[:, column] = _value(found, objective)
        table = np.empty((len(rows), len(constraints)), dtype=np.int64)
        for column, constraint in enumerate(constraints):
            table[:, column] = _figure(found, constraint)
        possible = found.account.possible
        feasible = possible & (table <= limits).all(axis=1) if constraints else possible
        return Outcomes(possible, objectives, table, feasible)

    return evaluate


def _kinds(problem: Problem) -> list[Kind | None]:
    """Return the kinds of the objectives and those that limits are of."""
    limited = [limit.kind.figure for limit in constraints_of(problem)]
    return [*(objective.kind for objective in problem.basic_objectives), *limited]


def needs_frame(problem: Problem) -> bool:
    """Return whether one frame must be simulated.

    It must be unless frames overlap and no objective or limit looks at one frame.
    """
    return rules_of(problem).needs_frame or any(
        kind.spec.needs_frame for kind in _kinds(problem) if kind is not None
    )


def guarantees(problem: Problem) -> bool:
    """Return whether a guaranteed latency is an objective or limited."""
    guaranteed = {ObjectiveKind.GUARANTEED_LATENCY, ObjectiveKind.GUARANTEED_RESPONSE}
    return not guaranteed.isdisjoint(_kinds(problem))


def tolerance_of(problem: Problem) -> tuple[int, int]:
    """Return the tolerance of a problem that has one."""
    assert problem.tolerance_permille is not None, "check_problem"
    return problem.tolerance_permille


def _value(found: Evaluated, objective: Objective) -> IntArray:
    """Return the integer of an objective, [n]. A user's own is computed of possible rows only."""
    kind = objective.kind
    if not isinstance(kind, OwnObjective):
        return OBJECTIVE_VALUES[kind](found, objective)
    possible = found.account.possible
    values = np.zeros(len(possible), dtype=np.int64)
    values[possible] = objective.integers(
        [network.name for network in found.problem.networks],
        lambda part: _value(found, part)[possible].tolist(),
    )
    return values


def _figure(found: Evaluated, limit: Constraint) -> IntArray:
    """Return the figure of a limit, [n]: of its own, else that of its objective."""
    if limit.kind in FIGURES:
        return FIGURES[limit.kind](found, limit.index)
    assert limit.kind.figure is not None, "FIGURES"
    return OBJECTIVE_VALUES[limit.kind.figure](found, Objective(limit.kind.figure, limit.index))


def _negative_rate(found: Evaluated, index: int | None) -> IntArray:
    assert index is not None, "of a network"
    rates = UHZ_PS // found.stream_period_ps[:, index]
    images = found.problem.images[index]
    return -np.where(rates > INT64_MAX // images, INT64_MAX, images * rates)


FIGURES: dict[LimitSpec, Callable[[Evaluated, int | None], IntArray]] = {
    TRANSITIONS: lambda found, n: found.counts[0][:, n],
    SEGMENTS: lambda found, u: found.counts[1][:, u],
    POOL: lambda found, p: found.memory_bytes[:, p],
    RATE: _negative_rate,
    OVERLOAD: lambda found, _: found.frame.recurs_ps,
    # Rounded up: a power just above the cap must not pass for the cap.
    POWER: lambda found, _: found.account.power_uw[1],
}
"""[n]: figures of limits that are not those of an objective."""


def _latency(found: Evaluated, objective: Objective) -> IntArray:
    frame, network = found.frame, objective.network
    return frame.makespan_ps if network is None else frame.latency_ps[:, network]


def _guaranteed_latency(found: Evaluated, objective: Objective) -> IntArray:
    makespan, latency = found.guaranteed_ps
    return makespan if objective.network is None else latency[:, objective.network]


def _rate_sum(found: Evaluated, objective: Objective) -> IntArray:
    del objective
    rates: IntArray = (UHZ_PS // np.maximum(found.frame.latency_ps, 1)).sum(axis=1)
    return -rates


def _efficiency(found: Evaluated, objective: Objective) -> IntArray:
    del objective
    problem = found.problem
    return found.account.energy_fj // (sum(problem.images) if problem.execution.has_frame else 1)


def _throughput(found: Evaluated, objective: Objective) -> IntArray:
    del objective
    problem, periods = found.problem, found.account.frame_period_ps
    if not problem.execution.has_frame:
        return periods
    return np.array([time_per_image_ps(problem.images, (p,)) for p in periods.tolist()])


def _stretch(found: Evaluated, objective: Objective) -> IntArray:
    del objective
    alone = np.maximum(alone_times(found.problem, found.rows), 1)
    ratio, rest = np.divmod(found.frame.busy_ps - alone, alone)
    # A thousand twice: a million times 9.3 s of picoseconds would leave int64.
    thousandths, rest = np.divmod(rest * 1000, alone)
    stretch: IntArray = ratio * PPM + thousandths * 1000 + rest * 1000 // alone
    return stretch


def _fairness(found: Evaluated, objective: Objective) -> IntArray:
    del objective
    shares = relative_rates_ppm(found.problem, found.stream_period_ps)
    return -np.asarray(shares.min(axis=1))


def _token_time(found: Evaluated, objective: Objective) -> IntArray:
    networks = found.problem.networks
    arrivals = np.array([network.arrival_ps for network in networks], dtype=np.int64)
    ends = found.frame.latency_ps + arrivals
    network, end = networks[_network(objective)], ends[:, _network(objective)]
    begin = np.maximum(ends[:, list(network.waits_for)].max(axis=1, initial=0), network.arrival_ps)
    each: IntArray = -((begin - end) // network.repeats)
    return each


def _token_energy(found: Evaluated, objective: Objective) -> IntArray:
    return found.account.energy_fj // found.problem.networks[_network(objective)].repeats


def _relative_response(found: Evaluated, objective: Objective) -> IntArray:
    problem = found.problem
    period = problem.execution.period_ps
    assert period is not None, "check_problem"
    releases = [problem.releases(n) for n in range(len(problem.networks))]
    ratio, rest = np.divmod(found.frame.latency_ps * np.array(releases), period)
    # A thousand twice: a million times a period of picoseconds could leave int64.
    thousandths, rest = np.divmod(rest * 1000, period)
    return _of_networks(ratio * PPM + thousandths * 1000 + rest * 1000 // period, objective)


def _of_networks(columns: IntArray, objective: Objective) -> IntArray:
    """Return [n]: the column of the objective's network, else the largest of [n, networks]."""
    network = objective.network
    return columns.max(axis=1) if network is None else columns[:, network]


def _misses(found: Evaluated, objective: Objective) -> IntArray:
    counts, network = found.frame.misses, objective.network
    return counts.sum(axis=1) if network is None else counts[:, network]


def _network(objective: Objective) -> int:
    assert objective.network is not None, "check_problem"
    return objective.network


OBJECTIVE_VALUES: dict[ObjectiveKind, Callable[[Evaluated, Objective], IntArray]] = {
    ObjectiveKind.LATENCY: _latency,
    ObjectiveKind.GUARANTEED_LATENCY: _guaranteed_latency,
    ObjectiveKind.INVERSE_LATENCY: _rate_sum,
    ObjectiveKind.THROUGHPUT: _throughput,
    ObjectiveKind.ENERGY: lambda found, _: found.account.energy_fj,
    ObjectiveKind.POWER: lambda found, _: found.account.power_uw[0],
    ObjectiveKind.EFFICIENCY: _efficiency,
    ObjectiveKind.STRETCH: _stretch,
    ObjectiveKind.FAIRNESS: _fairness,
    ObjectiveKind.TOKEN_RATE: _token_time,
    ObjectiveKind.TOKEN_ENERGY: _token_energy,
    ObjectiveKind.RELATIVE_RESPONSE: _relative_response,
    ObjectiveKind.RESPONSE: lambda found, o: _of_networks(found.frame.latency_ps, o),
    ObjectiveKind.GUARANTEED_RESPONSE: lambda found, o: _of_networks(found.guaranteed_ps[1], o),
    ObjectiveKind.RESPONSE_95: lambda found, o: _of_networks(found.frame.percentile_95_ps, o),
    ObjectiveKind.JITTER: lambda found, o: _of_networks(found.frame.jitter_ps, o),
    ObjectiveKind.MISSES: _misses,
    ObjectiveKind.ACCURACY_LOSS: lambda found, objective: loss_ppm(
        found.problem, found.rows, objective.network
    ),
    ObjectiveKind.MEMORY: lambda found, _: found.memory_bytes.sum(axis=1),
}
"""[n]: the integer of each kind of objective."""


def loss_ppm(problem: Problem, rows: IntArray, network: int | None = None) -> IntArray:
    """Return [n]: the summed accuracy loss of the groups of all networks, or of one, in ppm."""
    chosen = range(problem.group_count) if network is None else problem.networks[network].groups
    tables = [unit.loss_ppm for unit in problem.units if unit.loss_ppm is not None]
    assert len(tables) == len(problem.units), "check_problem"
    loss: IntArray = np.stack(tables)[rows[:, list(chosen)], np.array(chosen)].sum(axis=1)
    return loss


def memory_bytes(problem: Problem, tables: MemoryTables, rows: IntArray) -> IntArray:
    """Return [n, pools]: bytes of activations and of the constants of all groups in each pool."""
    assert len(tables.weights), "check_problem"
    groups = np.arange(problem.group_count)
    units = rows[:, groups]
    found = np.stack([table[groups, units].sum(axis=1) for table in tables.weights], axis=1)
    first = [network.first_group for network in problem.networks]
    for table, p in zip(tables.held, tables.pool_of_place, strict=True):
        # The memory of one pool is the same on every mapping.
        rows_of = units if (table != table[:, :1]).any() else units[:1]
        held = np.maximum.reduceat(table[groups, rows_of], first, axis=1)
        found[:, p] += held.sum(axis=1)
    return found


def alone_times(problem: Problem, rows: IntArray) -> IntArray:
    """Return [n]: stand-alone times of all executions of a frame, added up, in ps."""
    total: IntArray = alone_times_by_unit(problem, rows).sum(axis=1)
    return total


def alone_times_by_unit(problem: Problem, rows: IntArray) -> IntArray:
    """Return [n, units]: stand-alone times of a frame on each unit, at its first entry, in ps."""
    groups = problem.group_count
    times = np.zeros((len(rows), len(problem.units)), dtype=np.int64)
    moving = problem.repeats * problem.moving_ps(rows[:, :groups])
    for u, unit in enumerate(problem.units):
        points = tuple(rows[:, groups + clock] for clock in unit.clocks)
        frame_ps = problem.frame_ps(u)
        for g in range(groups):
            on = rows[:, g] == u
            times[:, problem.unit_of[u]] += np.where(on, frame_ps[(g, *points)] + moving[:, g], 0)
    return times


def make_segment_counter(problem: Problem) -> SegmentCounter:
    """Return a function from rows to ([n, networks] transitions, [n, units] segments).

    A unit with several number formats is counted at its first entry. A transition is an edge whose
    ends are on different units, not only in different number formats. A segment is a stretch of
    consecutive groups of one network on one unit in one number format, which is deployed as one
    engine.
    """
    from paretosoc.fitness.simulator.lookup import count_segments

    edges = np.array(problem.edges, dtype=np.int64).reshape(-1, 2)
    owner = problem.network_of
    network = np.array([owner[source] for source, _ in problem.edges], dtype=np.int64)
    unit_of = np.array(problem.unit_of, dtype=np.int64)
    is_first = np.zeros(problem.group_count, dtype=np.int64)
    is_first[[network.first_group for network in problem.networks]] = 1

    def count(rows: IntArray) -> tuple[IntArray, IntArray]:
        transitions = np.empty((len(rows), len(problem.networks)), dtype=np.int64)
        segments = np.empty((len(rows), len(problem.units)), dtype=np.int64)
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        count_segments(edges, network, unit_of, is_first, rows, transitions, segments)
        return transitions, segments

    return count
