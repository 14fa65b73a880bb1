"""Does a lemma hold? The plain check of certificates, in Python integers.

It shares no code with the search that writes the lemmas, nor with anything compiled.

A *lemma* is a set of choices: units for some groups, a set of operating points for every domain.
It claims that no feasible design point with these choices (and only allowed ones for the rest) has
a makespan, or another value, below the certified one. Its timeline is played as far as the choices
decide it (:mod:`fitness.lemma_play`); what follows is bounded from below.

The bound
---------
Let the timeline stop at the instant t, after all ends and before any dispatch. *Every* design point
with the lemma's choices shares this past: up to t, whatever started had one time, one demand and
one slowdown over all of them, and no group was eligible whose unit is open. So it is enough to
bound, for any one of them, the rest from t. (Nothing is compared *between* design points: the
timeline is not monotone, and what holds for the fastest choice need not hold for another.)

With c(g) the smallest stand-alone time of a group over the named operating points, on its unit
where that is named, else over its allowed units, the least end L(i) of a group instance i is:

* ended: when it ended;
* running: t + ceil(work left / 2**16): the rate is at most 2**16, and ends are whole picoseconds;
* else: c(g) after the largest of t, the arrival (first groups of a first repeat), and over all that
  it waits for, L(j), plus the transition where j feeds it and the units of both are named. It
  cannot start before any of these; its work is at least c(g) * 2**16, so it takes c(g) at least.

By induction along the waiting no instance ends before L. The bound is the largest of

* LB_n + arrival = the largest L over the instances of network n, for every network (LB_n bounds its
  latency);
* t + ceil(total / units): ``total`` adds ceil(work left / 2**16) of what runs and c of what has not
  started; each of these occupies one unit for so long, from t on, and a unit runs one at a time;
* for every unit, t + the same sum over what runs there and what is named for it.

A lemma holds where the bound is at least the certified makespan. Where the sum of rates of Eq. 10
is certified, it holds where -sum over networks of floor(10**18 / LB_n), in uHz, is at least the
certified value. It also holds where a constraint must break, for then none of its design points is
feasible: LB_n above the deadline of a network n, the bound above the period, or a power cap or an
energy budget (:mod:`fitness.lemma_power`). Limits of transitions and segments play no part here: a
lemma may name what they force, and the cover of the mapping rules by the lemmas shows that.

Where every choice that matters has one value, the timeline is played to its end; then the bound is
the makespan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter

from fitness.lemma_costs import LemmaCosts, LemmaCostTables, Points
from fitness.lemma_play import Instance, LemmaPlay, State, group_instances
from fitness.lemma_power import LeastPower, LemmaPower, power_must_break
from results.certificate import NOT_NAMED, LemmaTable, MaskArray
from results.errors import ResultError
from results.problem import WORK_PER_PS, EnergyUse, IntArray, Problem

MASK_BITS = 64
UHZ_PS = 10**18
"""1 / (1 ps) in uHz."""


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
    """None where the problem limits neither power nor energy."""

    @property
    def rate_sum_uhz(self) -> int:
        """-sum over networks of floor(10**18 / latency), Eq. 10 of HaX-CoNN, minimised."""
        return -sum(UHZ_PS // max(latency, 1) for latency in self.latency_ps)


def check_lemmas(
    problem: Problem, lemmas: LemmaTable, optimum: int, *, sums_rates: bool = False
) -> list[LemmaFailure]:
    """The lemmas that do not hold for the value ``optimum``, by index; empty: all hold.

    A lemma that names a unit that its group may not use, or no allowed operating point of a domain,
    is refused: a failure, too.

    Args:
        problem: whose design points the lemmas are about.
        lemmas: their choices.
        optimum: the certified makespan, in ps, or the certified -sum of rates, in uHz.
        sums_rates: ``optimum`` is the latter (Eq. 10).

    Raises:
        ResultError: where the tables do not fit the problem, or the problem has constraints that
            lemmas do not cover (a power cap or an energy budget in a pipeline).
    """
    _require_covered(problem)
    checker = _LemmaChecker(problem)
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
        reason = _shortfall(problem, bound, optimum, sums_rates=sums_rates)
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


def _require_covered(problem: Problem) -> None:
    limits = {
        "power_cap_mw": problem.power_cap_mw,
        "energy_budget_fj": problem.energy_budget_fj,
    }
    for name, limit in limits.items():
        if limit is None:
            continue
        if problem.energy_use is EnergyUse.PIPELINE:
            raise ResultError(
                f"{name}: lemmas need an energy use without a pipeline (no bound on its power is "
                f"known) or no limit, got {limit}"
            )
        if problem.energy_use is EnergyUse.PERIODIC and problem.period_ps is None:
            raise ResultError(f"period_ps: periodic energy with {name} needs a period, got none")


def _shortfall(
    problem: Problem, bound: LemmaBound, optimum: int, *, sums_rates: bool
) -> str | None:
    """Why the bound does not make the lemma hold; None where it does."""
    value = bound.rate_sum_uhz if sums_rates else bound.makespan_ps
    if value >= optimum or _constraint_must_break(problem, bound):
        return None
    optimum_ps = None if sums_rates else optimum
    if bound.power is not None and power_must_break(
        problem, bound.power, bound.makespan_ps, optimum_ps
    ):
        return None
    name, unit = ("sum of rates", "uHz") if sums_rates else ("makespan", "ps")
    return (
        f"its bound must be at least the certified {name}, {optimum} {unit}, or break a "
        f"constraint; it is {value} {unit}"
    )


def _constraint_must_break(problem: Problem, bound: LemmaBound) -> bool:
    """Whether the bounds of time are above a deadline or the period."""
    if problem.period_ps is not None and bound.makespan_ps > problem.period_ps:
        return True
    return any(
        network.deadline_ps is not None and latency > network.deadline_ps
        for network, latency in zip(problem.networks, bound.latency_ps, strict=True)
    )


class _LemmaChecker:
    """Bounds of lemmas of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._instances = group_instances(problem)
        self._order = _inputs_first(self._instances)
        self._play = LemmaPlay(problem, self._instances)
        self._costs = LemmaCostTables(problem)
        limited = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
        self._power = LemmaPower(problem, self._instances) if limited else None
        self._transition_ps: list[list[list[int]]] = problem.transition_ps.tolist()
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
                total += alone
                if unit != NOT_NAMED:
                    busy[unit] += alone
                least_end[i] = self._least_start(state, i, units, least_end) + alone
            network_end[instance.network] = max(network_end[instance.network], least_end[i])
        on_units = [-(-total // len(busy)), *busy]
        return LemmaBound(
            makespan_ps=max(*network_end, now + max(on_units)),
            latency_ps=tuple(
                end - network.arrival_ps
                for end, network in zip(network_end, self._problem.networks, strict=True)
            ),
            power=None if self._power is None else self._power.least(state, units, points),
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
