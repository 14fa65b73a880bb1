"""Does a lemma hold? The plain check of certificates, in Python integers.

It shares no code with the search that writes the lemmas, nor with anything compiled.

A *lemma* is a set of choices: units for some groups, a set of operating points for every domain. It
claims that no feasible design point with these choices (and only allowed ones for the rest) has a
makespan, or another value, below the certified one. It is simulated as far as the choices
decide it (:mod:`fitness.lemma_checker.simulate`); what follows is bounded from below.

The bound
---------
Let the timeline stop at the instant t, after all ends and before any dispatch. *Every* design point
with the lemma's choices shares this past: up to t, whatever started had one time, one demand and
one slowdown over all of them, and no group was eligible whose unit is open. So it is enough to
bound, for any one of them, the rest from t. (Nothing is compared *between* design points: the
timeline is not monotone, and what holds for the fastest choice need not hold for another.)

With c(g) the smallest stand-alone time of a group over the named operating points, on its unit
where that is named, else over its allowed units (in a later repeat and the smallest growth of that
time as often as repeats are before it), the least end L(i) of a group instance i is:

* ended: when it ended;
* running: t + ceil(work left / 2**16): the rate is at most 2**16, and ends are integer picoseconds;
* else: c(g) after the largest of t, the arrival (first groups of a first repeat), and over all that
  it waits for, L(j), plus the transition where j feeds it and the units of both are named. It
  cannot start before any of these; its work is at least c(g) * 2**16, so it takes c(g) at least.

By induction along the waiting no instance ends before L. The bound is the largest of

* LB_n + arrival = the largest L over the instances of network n, for every network (LB_n bounds its
  latency);
* t + ceil(total / units): ``total`` adds ceil(work left / 2**16) of what runs and c of what has not
  started; each of these occupies one unit for so long, from t on, and a unit runs one at a time;
* for every unit, t + the same sum over what runs there and what is named for it.

The sum of rates of Eq. 10 is bounded by -sum over networks of floor(10**18 / LB_n), in uHz, energy
and power by the bound and :mod:`fitness.lemma_checker.power`. A lemma holds where members close
these bounds (:mod:`fitness.lemma_checker.claim`), or makespan and energy together
(:mod:`fitness.lemma_checker.trade_off`). It also holds where a constraint must break, for then none
of its design points is feasible: LB_n above the deadline of a network n, the bound above the
period, or a power cap or an energy budget. Limits of transitions and segments play no part here: a
lemma may name what they force, and the cover of the mapping rules by the lemmas shows that.

Where every choice that matters has one value, the timeline is simulated to its end; then the bound
is the makespan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter

from common.arrays import IntArray
from common.units import UHZ_PS
from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.costs import LemmaCosts, LemmaCostTables, Points
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
from results.front.certificate import NOT_NAMED, LemmaTable, MaskArray
from results.problem.arithmetic import WORK_PER_PS
from results.problem.objectives import ObjectiveKind, objective_names
from results.problem.problem import Problem

MASK_BITS = 64
_TRADED = {ObjectiveKind.LATENCY, ObjectiveKind.ENERGY}


@dataclass(frozen=True)
class LemmaFailure:
    """A lemma that is refused, or does not hold."""

    index: int
    reason: str


@dataclass(frozen=True)
class LemmaBound:
    """What no design point with a lemma's choices is below."""

    makespan_ps: int
    latency_ps: tuple[int, ...]
    """[networks]: last end minus arrival."""
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
        if objective.network is not None:
            return self.latency_ps[objective.network]
        if objective.kind is ObjectiveKind.LATENCY:
            return self.makespan_ps
        if objective.kind is ObjectiveKind.INVERSE_LATENCY:
            return self.rate_sum_uhz
        energy = self.whole_energy_fj(problem)
        if objective.kind is ObjectiveKind.ENERGY:
            return energy
        assert objective.kind is ObjectiveKind.POWER, "others have no bounds"
        return energy * 1000 // self._whole_time(problem)

    def _whole_time(self, problem: Problem) -> int:
        period = problem.execution.period_ps
        return self.makespan_ps if period is None else period


def check_lemmas(problem: Problem, lemmas: LemmaTable, claim: LemmaTarget) -> list[LemmaFailure]:
    """The lemmas that do not hold, by index; empty: all hold.

    A lemma that names a unit that its group may not use, or no allowed operating point of a domain,
    is refused: a failure, too.

    Args:
        problem: whose design points the lemmas are about.
        lemmas: their choices.
        claim: the members that none of these design points is better than.

    Raises:
        ResultError: where the tables do not fit the problem, or the claim or a limit has no bounds
            (see :meth:`fitness.lemma_checker.claim.LemmaClaim.require_bounds`).
    """
    claim.require_bounds(problem)
    checker = _LemmaChecker(problem, claim)
    failures = []
    accepted, choices = [], []
    for index, (units, points) in enumerate(checker.rows(lemmas.units, lemmas.points)):
        refusal = checker.refusal(units, points)
        if refusal is None:
            accepted.append(index)
            choices.append((units, points))
        else:
            failures.append(LemmaFailure(index, refusal))
    for position, bound in checker.bounds(choices):
        reason = _shortfall(problem, bound, claim)
        if reason is not None:
            failures.append(LemmaFailure(accepted[position], reason))
    return sorted(failures, key=lambda failure: failure.index)


def lemma_bounds(problem: Problem, lemmas: LemmaTable) -> list[LemmaBound]:
    """The lower bounds of all lemmas, in their order.

    Raises:
        ResultError: where the tables do not fit the problem, or a lemma is refused (see
            :func:`check_lemmas`).
    """
    checker = _LemmaChecker(problem)
    choices = list(checker.rows(lemmas.units, lemmas.points))
    for index, (units, points) in enumerate(choices):
        refusal = checker.refusal(units, points)
        if refusal is not None:
            raise ResultError(f"lemma {index}: {refusal}")
    bounds = dict(checker.bounds(choices))
    return [bounds[index] for index in range(len(choices))]


def lemma_bound(problem: Problem, units_row: IntArray, point_masks: MaskArray) -> int:
    """The lower bound of the makespan, in ps, of every design point with these choices.

    Args:
        problem: where the choices are made.
        units_row: [groups]: a unit, or ``NOT_NAMED``.
        point_masks: [domains]: bit k for the operating point k.

    Raises:
        ResultError: as for :func:`lemma_bounds`.
    """
    return lemma_bounds(problem, LemmaTable(units_row[None], point_masks[None]))[0].makespan_ps


def _shortfall(problem: Problem, bound: LemmaBound, claim: LemmaTarget) -> str | None:
    """Why the bound does not make the lemma hold; None where it does."""
    values = [bound.value(problem, column) for column in claim.objectives]
    if claim.is_fathomed(values) or _constraint_must_break(problem, bound):
        return None
    if bound.power is not None:
        closing_ps = claim.fathoming_makespan(problem, values)
        if power_must_break(problem, bound.power, bound.makespan_ps, closing_ps):
            return None
    if bound.trade is not None and claim.is_fathomed_by_trade_off(
        problem, bound.trade, bound.makespan_ps, bound.whole_energy_fj(problem)
    ):
        return None
    names = objective_names(problem)
    shown = ", ".join(
        f"{names[column]} {value}" for column, value in zip(claim.objectives, values, strict=True)
    )
    nearest = f", such as {list(claim.closing[0])}" if claim.closing else " (there is none)"
    return (
        f"its bounds must be closed by a member{nearest}, or break a constraint; they are {shown}"
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


class _LemmaChecker:
    """Bounds of lemmas of one problem."""

    def __init__(self, problem: Problem, claim: LemmaTarget | None = None) -> None:
        self._problem = problem
        self._instances = group_instances(problem)
        self._order = _inputs_first(self._instances)
        self._play = LemmaSimulation(problem, self._instances)
        self._costs = LemmaCostTables(problem)
        needed = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
        kinds = {problem.objectives[c].kind for c in (() if claim is None else claim.objectives)}
        needed |= bool(kinds & {ObjectiveKind.ENERGY, ObjectiveKind.POWER})
        self._power = LemmaPower(problem, self._instances) if needed else None
        self._trades: LemmaTrades | None = None
        if claim is not None and claim.rates_mw and kinds == _TRADED:
            self._trades = LemmaTrades(problem, self._instances, claim.rates_mw)
        self._transition_ps = transition_table(problem)
        self._allowed_units: list[list[bool]] = problem.allowed.tolist()
        self._ladders = [
            {1 << int(point): int(point) for point in domain.allowed.nonzero()[0]}
            for domain in problem.domains
        ]
        for d, domain in enumerate(problem.domains):
            if len(domain.allowed) > MASK_BITS:
                raise ResultError(
                    f"$.domains[{d}]: lemmas need at most {MASK_BITS} operating points, got "
                    f"{len(domain.allowed)}"
                )

    def rows(
        self, units: IntArray, masks: MaskArray
    ) -> Iterator[tuple[list[int], tuple[Points, ...]]]:
        """For every lemma its units, and the allowed operating points that it names by domain."""
        groups, domains = self._problem.group_count, len(self._problem.domains)
        if units.ndim != 2 or units.shape[1] != groups:
            raise ResultError(f"lemmas: units must be [lemmas, {groups}], got {list(units.shape)}")
        if masks.shape != (len(units), domains):
            raise ResultError(
                f"lemmas: points must be [{len(units)}, {domains}], got {list(masks.shape)}"
            )
        seen: dict[tuple[int, ...], tuple[Points, ...]] = {}
        for row, mask_row in zip(units.tolist(), masks.tolist(), strict=True):
            key = tuple(mask_row)
            if key not in seen:
                seen[key] = tuple(
                    tuple(point for bit, point in ladder.items() if mask & bit)
                    for mask, ladder in zip(key, self._ladders, strict=True)
                )
            yield row, seen[key]

    def refusal(self, units: list[int], points: tuple[Points, ...]) -> str | None:
        """Why these choices are none; None where they are."""
        problem = self._problem
        for group, unit in enumerate(units):
            if unit == NOT_NAMED:
                continue
            if not 0 <= unit < len(problem.units):
                return f"group {group}: its unit must be one of {len(problem.units)}, got {unit}"
            if not self._allowed_units[group][unit]:
                return f"group {group}: may not use the unit {problem.units[unit].name!r}"
        for domain, chosen in zip(problem.domains, points, strict=True):
            if not chosen:
                return f"domain {domain.name!r}: names no allowed operating point"
        return None

    def bounds(
        self, choices: list[tuple[list[int], tuple[Points, ...]]]
    ) -> Iterator[tuple[int, LemmaBound]]:
        """(index, bound) of all lemmas, in no particular order."""
        units = [row for row, _ in choices]
        costs = [self._costs.over(points) for _, points in choices]
        for state, lemmas in self._play.stops(units, costs):
            for lemma in lemmas:
                yield lemma, self._bound(state, *choices[lemma], costs[lemma])

    def _bound(
        self, state: State, units: list[int], points: tuple[Points, ...], costs: LemmaCosts
    ) -> LemmaBound:
        now = state.now_ps
        left = {job.instance: -(-job.work_left // WORK_PER_PS) for job in state.running.values()}
        total = sum(left.values())
        busy = [0] * len(self._problem.units)
        for unit, job in state.running.items():
            busy[unit] = left[job.instance]
        least_end = [0] * len(self._instances)
        network_end = [0] * len(self._problem.networks)
        for i in self._order:
            instance = self._instances[i]
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
                    busy[unit] += alone
                least_end[i] = self._least_start(state, i, units, least_end) + alone
            network_end[instance.network] = max(network_end[instance.network], least_end[i])
        on_units = [-(-total // len(busy)), *busy]
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
            power=power,
            trade=trade,
        )

    def _least_start(self, state: State, i: int, units: list[int], least_end: list[int]) -> int:
        instance = self._instances[i]
        unit = units[instance.group]
        start = max(state.now_ps, instance.arrival_ps)
        for source, edge in instance.inputs:
            instant = least_end[source]
            if edge is not None and unit != NOT_NAMED:
                source_unit = units[self._instances[source].group]
                if source_unit != NOT_NAMED:
                    instant += self._transition_ps[edge][source_unit][unit]
            start = max(start, instant)
        return start


def _inputs_first(instances: tuple[Instance, ...]) -> list[int]:
    """Indices of the instances, every one after all that it waits for."""
    waits = {
        i: [entry.instance for entry in instance.inputs] for i, instance in enumerate(instances)
    }
    return list(TopologicalSorter(waits).static_order())
