"""Does a lemma hold? The plain check, in Python integers.

It shares no code with the search, nor with anything compiled. A lemma is simulated as far as its
choices decide it (:mod:`fitness.lemma_checker.simulate`); the rest is bounded from below.
docs/concepts/certificate.md (Lemmas) has the bounds, and what closes a lemma.

They hold for every design point with the lemma's choices: up to the instant at which the timeline
stops, whatever started had one time, one demand and one slowdown over all of them, and no group was
eligible whose unit is open. Nothing is compared *between* design points, as the timeline is not
monotone. By induction along the waiting no instance ends before its least end: it cannot start
before what it waits for, and its rate is at most 2**16.

Limits of transitions, segments and accuracy play no part here: :mod:`fitness.lemma_checker.tree`
follows them. If every choice that matters has one value, the timeline is simulated to its end; then
the bound is the makespan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from common.units import UHZ_PS
from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.costs import LemmaCosts, LemmaCostTables, Points
from fitness.lemma_checker.memory import least_memory_bytes, least_of
from fitness.lemma_checker.power import LeastPower, LemmaPower, power_must_break
from fitness.lemma_checker.simulate import (
    Instance,
    LemmaSimulation,
    State,
    group_instances,
    transition_table,
)
from fitness.lemma_checker.trade_off import LemmaTrades, TradeOff
from results.errors import ResultError
from results.front.certificate import NOT_NAMED
from results.front.node_kinds import MEMBERS, POWER_LIMIT, TIME_LIMIT, TRADE_OFF
from results.problem.arithmetic import WORK_PER_PS
from results.problem.objectives import ObjectiveKind
from results.problem.problem import Problem

MASK_BITS = 64
_TRADED = {ObjectiveKind.LATENCY, ObjectiveKind.ENERGY}
_OF_ENERGY = {ObjectiveKind.ENERGY, ObjectiveKind.POWER, ObjectiveKind.TOKEN_ENERGY}


@dataclass(frozen=True)
class LemmaBound:
    """What no design point with a lemma's choices is below."""

    makespan_ps: int
    latency_ps: tuple[int, ...]
    """[networks]: last end minus arrival."""
    span_ps: tuple[int, ...] = ()
    """[networks]: last end minus the later of the arrival and the ends of all that it waits for;
    none where no objective asks for it."""
    loss_ppm: tuple[int, ...] = ()
    """[networks]: accuracy that its groups cost together."""
    memory_bytes: int = 0
    power: LeastPower | None = None
    """None where power and energy are neither objectives nor limited."""
    trade: TradeOff | None = None
    """None where no rates are given."""

    @property
    def rate_sum_uhz(self) -> int:
        """-sum over networks of floor(10**18 / latency), Eq. 10 of HaX-CoNN, minimised."""
        return -sum(UHZ_PS // max(latency, 1) for latency in self.latency_ps)

    def whole_energy_fj(self, problem: Problem) -> int:
        """Idle power over the period or the makespan, and dynamic energy."""
        assert self.power is not None, "asked for"
        return self.power.idle_mw * self._whole_time(problem) + self.power.dynamic_fj

    def value(self, problem: Problem, column: int) -> int:
        """The bound of one of the problem's objectives."""
        objective = problem.objectives[column]
        match objective.kind, objective.network:
            case ObjectiveKind.LATENCY, None:
                return self.makespan_ps
            case ObjectiveKind.LATENCY, int(n):
                return self.latency_ps[n]
            case ObjectiveKind.INVERSE_LATENCY, _:
                return self.rate_sum_uhz
            case ObjectiveKind.TOKEN_RATE, int(n):
                return -(-self.span_ps[n] // problem.networks[n].repeats)
            case ObjectiveKind.TOKEN_ENERGY, int(n):
                return self.whole_energy_fj(problem) // problem.networks[n].repeats
            case ObjectiveKind.ACCURACY_LOSS, None:
                return sum(self.loss_ppm)
            case ObjectiveKind.ACCURACY_LOSS, int(n):
                return self.loss_ppm[n]
            case ObjectiveKind.MEMORY, _:
                return self.memory_bytes
            case ObjectiveKind.ENERGY, _:
                return self.whole_energy_fj(problem)
        assert objective.kind is ObjectiveKind.POWER, "others have no bounds"
        return self.whole_energy_fj(problem) * 1000 // self._whole_time(problem)

    def _whole_time(self, problem: Problem) -> int:
        period = problem.execution.period_ps
        return self.makespan_ps if period is None else period


def is_closed(problem: Problem, bound: LemmaBound, claim: LemmaTarget, kind: int) -> bool:
    """Whether a lemma holds for the reason ``kind`` (:mod:`results.front.node_kinds`)."""
    if kind == TIME_LIMIT:
        return _constraint_must_break(problem, bound)
    values = [bound.value(problem, column) for column in claim.objectives]
    if kind == MEMBERS:
        return claim.is_fathomed(values)
    if kind == POWER_LIMIT:
        closing_ps = claim.fathoming_makespan(problem, values)
        return bound.power is not None and power_must_break(
            problem, bound.power, bound.makespan_ps, closing_ps
        )
    return (
        kind == TRADE_OFF
        and bound.trade is not None
        and claim.is_fathomed_by_trade_off(
            problem, bound.trade, bound.makespan_ps, bound.whole_energy_fj(problem)
        )
    )


def _constraint_must_break(problem: Problem, bound: LemmaBound) -> bool:
    """Whether the bounds of time are above a deadline or the period."""
    period = problem.execution.period_ps
    if period is not None and bound.makespan_ps > period:
        return True
    return any(
        network.deadline_ps is not None and latency > network.deadline_ps
        for network, latency in zip(problem.networks, bound.latency_ps, strict=True)
    )


class LemmaChecker:
    """Bounds of lemmas of one problem.

    Args:
        problem: whose design points the lemmas are about.
        claim: the members that none of these design points is better than.

    Raises:
        ResultError: where the claim or a limit has no bounds (see
            :meth:`fitness.lemma_checker.claim.LemmaTarget.require_bounds`), or a domain more
            operating points than a set has bits.
    """

    def __init__(self, problem: Problem, claim: LemmaTarget) -> None:
        claim.require_bounds(problem)
        for d, domain in enumerate(problem.domains):
            if len(domain.allowed) > MASK_BITS:
                raise ResultError(
                    f"$.domains[{d}]: lemmas need at most {MASK_BITS} operating points, got "
                    f"{len(domain.allowed)}"
                )
        self._problem = problem
        self.instances = group_instances(problem)
        self._order = _inputs_first(self.instances)
        self.simulation = LemmaSimulation(problem, self.instances)
        self.costs = LemmaCostTables(problem)
        needed = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
        kinds = {problem.objectives[c].kind for c in claim.objectives}
        self.needs_power = needed or bool(kinds & _OF_ENERGY)
        self._needs_spans = ObjectiveKind.TOKEN_RATE in kinds
        self._power = LemmaPower(problem, self.instances) if self.needs_power else None
        self._trades: LemmaTrades | None = None
        if claim.rates_mw and kinds == _TRADED:
            self._trades = LemmaTrades(problem, self.instances, claim.rates_mw)
        self._transition_ps = transition_table(problem)

    def bound(
        self, state: State, units: Sequence[int], points: tuple[Points, ...], costs: LemmaCosts
    ) -> LemmaBound:
        """The bound of a lemma.

        Args:
            state: where its timeline stops, or is over.
            units: [groups]: a unit, or ``NOT_NAMED``.
            points: [domains]: operating points that are named and allowed; none of them empty.
            costs: over these.
        """
        now = state.now_ps
        left = {job.instance: -(-job.work_left // WORK_PER_PS) for job in state.running.values()}
        total = sum(left.values())
        busy = [0] * len(self._problem.units)
        unit_of = self._problem.unit_of
        for unit, job in state.running.items():
            busy[unit] = left[job.instance]
        least_end = [0] * len(self.instances)
        network_end = [0] * len(self._problem.networks)
        for i in self._order:
            instance = self.instances[i]
            ended = state.end_ps[i]
            if ended is not None:
                least_end[i] = ended
            elif i in left:
                least_end[i] = now + left[i]
            else:
                unit = units[instance.group]
                alone = costs.smallest_ps[unit][instance.group]
                alone += instance.repeat * costs.step_ps[unit][instance.group]
                total += alone
                if unit != NOT_NAMED:
                    busy[unit_of[unit]] += alone
                least_end[i] = self._least_start(state, i, units, least_end) + alone
            network_end[instance.network] = max(network_end[instance.network], least_end[i])
        on_units = [-(-total // len(set(unit_of))), *busy]
        power = None if self._power is None else self._power.least(state, units, points)
        trade = None
        if self._trades is not None and power is not None:
            period = self._problem.execution.period_ps
            trade = self._trades.of(
                state,
                units,
                points,
                network_end,
                fixed_fj=power.dynamic_fj + (0 if period is None else power.idle_mw * period),
                power_mw=power.idle_mw if period is None else 0,
            )
        return LemmaBound(
            makespan_ps=max(*network_end, now + max(on_units)),
            latency_ps=tuple(
                end - network.arrival_ps
                for end, network in zip(network_end, self._problem.networks, strict=True)
            ),
            loss_ppm=tuple(
                sum(least_loss_ppm(self._problem, g, units[g]) for g in network.groups)
                for network in self._problem.networks
            ),
            memory_bytes=least_memory_bytes(self._problem, units, range(len(self._problem.units))),
            span_ps=self._spans(state, units, costs, network_end) if self._needs_spans else (),
            power=power,
            trade=trade,
        )

    def _spans(
        self, state: State, units: Sequence[int], costs: LemmaCosts, network_end: Sequence[int]
    ) -> tuple[int, ...]:
        """[networks]: see :class:`LemmaBound`."""
        spans = [0] * len(network_end)
        awaited: list[list[int | None]] = [[] for _ in spans]
        least_end = [0] * len(self.instances)
        for i in self._order:
            instance = self.instances[i]
            n, unit = instance.network, units[instance.group]
            start = 0
            for source, edge in instance.inputs:
                other = self.instances[source]
                if other.network != n:
                    if edge is None:
                        awaited[n].append(state.end_ps[source])
                    continue
                instant = least_end[source]
                if edge is not None and NOT_NAMED not in (unit, units[other.group]):
                    instant += self._transition_ps[edge][units[other.group]][unit]
                start = max(start, instant)
            alone = costs.smallest_ps[unit][instance.group]
            alone += instance.repeat * costs.step_ps[unit][instance.group]
            least_end[i] = start + alone
            spans[n] = max(spans[n], least_end[i])
        for n, ends in enumerate(awaited):
            known = [end for end in ends if end is not None]
            if len(known) == len(ends):
                spans[n] = network_end[n] - max([self._problem.networks[n].arrival_ps, *known])
        return tuple(spans)

    def _least_start(self, state: State, i: int, units: Sequence[int], least_end: list[int]) -> int:
        instance = self.instances[i]
        unit = units[instance.group]
        start = max(state.now_ps, instance.arrival_ps)
        for source, edge in instance.inputs:
            instant = least_end[source]
            if edge is not None and unit != NOT_NAMED:
                source_unit = units[self.instances[source].group]
                if source_unit != NOT_NAMED:
                    instant += self._transition_ps[edge][source_unit][unit]
            start = max(start, instant)
        return start


def least_loss_ppm(problem: Problem, group: int, unit: int) -> int:
    """Accuracy that a group costs on a unit; with ``NOT_NAMED`` the smallest over those that it may
    be on; 0 where that is not known."""
    return least_of(problem, [entry.loss_ppm for entry in problem.units], group, unit)


def _inputs_first(instances: tuple[Instance, ...]) -> list[int]:
    """Indices of the instances, every one after all that it waits for."""
    waits = {
        i: [entry.instance for entry in instance.inputs] for i, instance in enumerate(instances)
    }
    return list(TopologicalSorter(waits).static_order())
