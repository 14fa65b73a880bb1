"""Objectives and limits of one design point, in Python integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paretosoc.common.text import pluralize
from paretosoc.common.units import PPM, UHZ_PS
from paretosoc.fitness.check.choices import least_loss, least_memory, segments, transitions
from paretosoc.fitness.check.members.account import PlainAccount, plain_account
from paretosoc.fitness.check.members.frames import PlainTimeline, figure_of_choices
from paretosoc.results.front.front import FreeRun, Responses
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
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.own_objective import OwnObjective
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import times_alone_ps


@dataclass(frozen=True)
class Broken:
    """A mapping rule or a limit that a design point breaks."""

    constraint: str | None
    """Name of the limit, as in ``breaks`` of ``front.json``. None: a rule that nothing may
    break."""
    why: str
    """With figures."""


@dataclass(frozen=True)
class PlainOutcome:
    """The timeline, objectives, energies and broken limits of a design point."""

    timeline: PlainTimeline
    """One frame alone."""
    free_run: FreeRun | None
    objectives: tuple[int, ...]
    """In the problem's order."""
    energy_fj: int
    energy_by_unit_fj: tuple[int, ...]
    """Per unit, idle and busy."""
    broken: tuple[Broken, ...]
    """First rules, then limits: transitions, segments, accuracy, memory, deadlines, 95th
    percentiles, jitter, misses, period, power, energy."""
    limited: tuple[int, ...]
    """The figure of every limit, in the order of ``constraints_of``."""
    responses: tuple[Responses, ...] | None = None
    """Responses of each network if networks have rates."""
    latencies_ps: tuple[int, ...] = ()
    """Latency of each network, or its longest response if networks have rates."""
    window_ps: tuple[int, int] | None = None
    """Begin and end of the recurring window of networks with rates, if there is one."""


def plain_outcome(problem: Problem, design: DesignPoint, *, compiled: bool = False) -> PlainOutcome:
    """Simulate a design point and add up.

    Args:
        compiled: the problem's figures must then fit in int64 with all their products.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    account = plain_account(problem, design, compiled=compiled)
    run = account.run
    limited = tuple(_limited(account, limit) for limit in constraints_of(problem))
    return PlainOutcome(
        timeline=account.frame,
        free_run=None if run is None else run.free_run,
        objectives=tuple(_value(account, objective) for objective in problem.objectives),
        energy_fj=account.energy_fj,
        energy_by_unit_fj=account.energy_by_unit_fj,
        broken=(*broken_rules(problem, design), *_broken_limits(account, limited)),
        limited=limited,
        responses=_summaries(account) if account.responses_ps else None,
        latencies_ps=account.latencies_ps,
        window_ps=None if account.rates is None else account.rates.window_ps,
    )


def _value(account: PlainAccount, objective: Objective) -> int:
    """Return the integer of an objective. A user's own function is the simulator's, too."""
    kind = objective.kind
    if not isinstance(kind, OwnObjective):
        return PLAIN_OBJECTIVES[kind](account, objective)
    names = [network.name for network in account.problem.networks]
    return int(objective.integers(names, lambda part: [_value(account, part)])[0])


def _summaries(account: PlainAccount) -> tuple[Responses, ...]:
    return tuple(
        Responses(_share_95(times), times[-1] - times[0], _late(account, n))
        for n, times in enumerate(account.responses_ps)
    )


def _share_95(times: Sequence[int]) -> int:
    """Return the 95th percentile by nearest rank, of rising times."""
    return times[-(-95 * len(times) // 100) - 1]


def _late(account: PlainAccount, n: int) -> int:
    """Return the mean number of late responses in a period, rounded up: beyond the deadline,
    without one beyond the time between releases and the batch's wait."""
    assert account.rates is not None, "responses are of rates"
    times, deadline = account.responses_ps[n], account.problem.networks[n].deadline_ps
    periods, often = account.rates.periods, account.problem.releases(n)
    wait = account.problem.networks[n].batch_wait_ps
    late = [time for time in times if (time - wait) * often > account.time_ps]
    if deadline is not None:
        late = [time for time in times if time > deadline]
    return -(-len(late) // periods)


def _of_responses(
    value: Callable[[PlainAccount, int], int], overall: Callable[[Sequence[int]], int] = max
) -> Callable[[PlainAccount, Objective], int]:
    """Return an objective's function from one of a network: its network's value, or ``overall``."""

    def of(account: PlainAccount, objective: Objective) -> int:
        every = range(len(account.responses_ps))
        one = objective.network
        return overall([value(account, n) for n in (every if one is None else [one])])

    return of


def _latency(account: PlainAccount, objective: Objective) -> int:
    network = objective.network
    frame = account.frame
    return frame.frame_end_ps[0] if network is None else frame.latency_ps[0][network]


def _guaranteed_latency(account: PlainAccount, objective: Objective) -> int:
    assert account.guarantee is not None, "check_problem"
    network = objective.network
    bound = account.guarantee
    return bound.makespan_ps if network is None else bound.latency_ps[network]


def _guaranteed_response(account: PlainAccount, objective: Objective) -> int:
    assert account.guarantee is not None, "check_problem"
    responses, network = account.guarantee.latency_ps, objective.network
    return max(responses) if network is None else responses[network]


def _stretch(account: PlainAccount, objective: Objective) -> int:
    del objective
    rows = account.frame.schedule.groups
    alone = sum(row.alone_ps for row in rows)
    busy = account.frame.busy_ps if account.rates is None else account.rates.busy_ps
    return (busy - alone) * PPM // max(alone, 1)


def _efficiency(account: PlainAccount, objective: Objective) -> int:
    del objective
    return account.energy_fj // (sum(account.problem.images) if account.run is None else 1)


def _throughput(account: PlainAccount, objective: Objective) -> int:
    del objective
    problem, period = account.problem, account.period_ps
    if account.run is not None:
        return period
    return -(-len(problem.networks) * period // sum(problem.images))


def _token_time(account: PlainAccount, objective: Objective) -> int:
    """Return the time per repeat of the objective's network, rounded up, from its arrival or the
    last end that it waits for to its own."""
    assert objective.network is not None
    network = account.problem.networks[objective.network]
    rows = account.frame.schedule.groups
    begin = max(
        [network.arrival_ps, *(row.end_ps for row in rows if row.network in network.waits_for)]
    )
    end = max(row.end_ps for row in rows if row.network == objective.network)
    return -(-(end - begin) // network.repeats)


def _token_energy(account: PlainAccount, objective: Objective) -> int:
    assert objective.network is not None
    return account.energy_fj // account.problem.networks[objective.network].repeats


def _accuracy_loss(account: PlainAccount, objective: Objective) -> int:
    networks = range(len(account.problem.networks))
    counted = [n for n in networks if objective.network in (None, n)]
    return sum(_of_choices(account, least_loss, n) for n in counted)


def _of_choices(account: PlainAccount, kernel: Any, index: int) -> int:
    """Return a figure of :mod:`fitness.check.choices`."""
    return figure_of_choices(account.problem, account.design, kernel, index)


PLAIN_OBJECTIVES: dict[ObjectiveKind, Callable[[PlainAccount, Objective], int]] = {
    ObjectiveKind.LATENCY: _latency,
    ObjectiveKind.GUARANTEED_LATENCY: _guaranteed_latency,
    ObjectiveKind.INVERSE_LATENCY: lambda account, _: (
        -sum(UHZ_PS // max(latency, 1) for latency in account.frame.latency_ps[0])
    ),
    ObjectiveKind.THROUGHPUT: _throughput,
    ObjectiveKind.ENERGY: lambda account, _: account.energy_fj,
    ObjectiveKind.POWER: lambda account, _: account.drawn_fj * 1000 // account.time_ps,
    ObjectiveKind.EFFICIENCY: _efficiency,
    ObjectiveKind.STRETCH: _stretch,
    ObjectiveKind.FAIRNESS: lambda account, _: (
        -min(
            min(PPM * time // period, INT64_MAX)
            for time, period in zip(
                times_alone_ps(account.problem), account.stream_periods_ps, strict=True
            )
        )
    ),
    ObjectiveKind.TOKEN_RATE: _token_time,
    ObjectiveKind.TOKEN_ENERGY: _token_energy,
    ObjectiveKind.RELATIVE_RESPONSE: _of_responses(
        lambda account, n: (
            PPM * account.responses_ps[n][-1] * account.problem.releases(n) // account.time_ps
        )
    ),
    ObjectiveKind.RESPONSE: _of_responses(lambda account, n: account.responses_ps[n][-1]),
    ObjectiveKind.GUARANTEED_RESPONSE: _guaranteed_response,
    ObjectiveKind.RESPONSE_95: _of_responses(lambda account, n: _share_95(account.responses_ps[n])),
    ObjectiveKind.JITTER: _of_responses(
        lambda account, n: account.responses_ps[n][-1] - account.responses_ps[n][0]
    ),
    ObjectiveKind.MISSES: _of_responses(_late, sum),
    ObjectiveKind.ACCURACY_LOSS: _accuracy_loss,
    ObjectiveKind.MEMORY: lambda account, _: _of_choices(account, least_memory, 0),
}
"""The integer of each kind of objective."""


_FIGURES: dict[LimitSpec, Callable[[PlainAccount, int], int]] = {
    TRANSITIONS: lambda account, n: _of_choices(account, transitions, n),
    SEGMENTS: lambda account, u: _of_choices(account, segments, u),
    POOL: lambda account, p: _of_choices(account, least_memory, 1 + p),
    RATE: lambda account, n: -account.problem.images[n] * (UHZ_PS // account.stream_periods_ps[n]),
    OVERLOAD: lambda account, _: 0 if account.rates is None else account.rates.recurs_ps,
    POWER: lambda account, _: -(-account.drawn_fj * 1000 // account.time_ps),
}
"""Figures of limits that are no objectives. A least value and its figure are negative."""


def _limited(account: PlainAccount, limit: Constraint) -> int:
    """Return the figure of a limit."""
    kind, index = limit.kind, limit.index
    if kind in _FIGURES:
        return _FIGURES[kind](account, index or 0)
    assert kind.figure is not None, "LIMITS"
    return PLAIN_OBJECTIVES[kind.figure](account, Objective(kind.figure, index))


def _broken_limits(account: PlainAccount, limited: Sequence[int]) -> Iterator[Broken]:
    problem = account.problem
    for limit, value in zip(constraints_of(problem), limited, strict=True):
        kind, index = limit.kind, limit.index
        if value <= limit.limit:
            continue
        found = f"{limit.name} is {abs(value)} {limit.unit}"
        if kind.counts is not None:
            units, networks = problem.units, problem.networks
            owner = units[index or 0].unit_name if kind is SEGMENTS else networks[index or 0].name
            found = f"{owner} has {pluralize(value, kind.counts)}"
        wanted = "asked for" if limit.is_least else "allowed"
        why = f"{found}, {kind.at} {abs(limit.limit)} {wanted}"
        if account.rates is not None and kind is OVERLOAD and account.rates.window_ps is None:
            why = "nothing recurs: the units are overloaded"
        yield Broken(limit.name, why)


def broken_rules(problem: Problem, design: DesignPoint) -> list[Broken]:
    """Return the mapping rules that the choices break."""
    units = design.units.tolist()
    broken = [
        Broken(None, f"group {g} may not be on {problem.units[u].name}")
        for g, u in enumerate(units)
        if not problem.allowed[g, u]
    ]
    used = {clock for u in set(units) for clock in problem.units[u].clocks}
    for d, domain in enumerate(problem.domains):
        needed = not domain.may_be_off or d in used
        if needed and not domain.allowed[int(design.operating_points[d])]:
            why = f"{domain.name} may not have operating point {design.operating_points[d]}"
            broken.append(Broken(None, why))
    return broken
