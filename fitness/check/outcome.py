"""Objectives and limits of one design point, in Python integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from paretosoc.fitness.check.account import PlainAccount, plain_account
from paretosoc.fitness.check.frames import PlainTimeline
from paretosoc.results.front.front import FreeRun, Responses
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.io.plural import pluralize
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class Broken:
    """A mapping rule or a limit that a design point breaks."""

    constraint: str | None
    """Name of the limit, as in ``breaks`` of ``front.json``; None: a rule, which nothing may break.
    """
    why: str
    """With figures."""


@dataclass(frozen=True)
class PlainOutcome:
    """What a design point gives."""

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
    responses: tuple[Responses, ...] | None = None
    """Per network, where these have rates."""
    latencies_ps: tuple[int, ...] = ()
    """Per network; with rates the longest response."""
    window_ps: tuple[int, int] | None = None
    """Of networks with rates, where something recurs."""


def plain_outcome(problem: Problem, design: DesignPoint, *, compiled: bool = False) -> PlainOutcome:
    """Simulate a design point and add up.

    Args:
        compiled: the problem's figures must then fit in int64 with all their products.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    account = plain_account(problem, design, compiled=compiled)
    run = account.run
    return PlainOutcome(
        timeline=account.frame,
        free_run=None if run is None else run.free_run,
        objectives=tuple(
            PLAIN_OBJECTIVES[objective.kind](account, objective) for objective in problem.objectives
        ),
        energy_fj=account.energy_fj,
        energy_by_unit_fj=account.energy_by_unit_fj,
        broken=(*broken_rules(problem, design), *_broken_limits(account)),
        responses=_summaries(account) if account.responses_ps else None,
        latencies_ps=account.latencies_ps,
        window_ps=None if account.rates is None else account.rates.window_ps,
    )


def _summaries(account: PlainAccount) -> tuple[Responses, ...]:
    return tuple(
        Responses(_share_95(times), times[-1] - times[0], _late(account, n))
        for n, times in enumerate(account.responses_ps)
    )


def _share_95(times: Sequence[int]) -> int:
    """The 95th percentile by nearest rank, of rising times."""
    return times[-(-95 * len(times) // 100) - 1]


def _late(account: PlainAccount, n: int) -> int:
    """Responses beyond the deadline or, without one, beyond the time between releases and what the
    batch waits, in a period in the mean, rounded up."""
    assert account.rates is not None, "responses are of rates"
    times, deadline = account.responses_ps[n], account.problem.networks[n].deadline_ps
    periods, often = account.rates.periods, _releases(account, n)
    wait = account.problem.networks[n].batch_wait_ps
    late = [time for time in times if (time - wait) * often > account.time_ps]
    if deadline is not None:
        late = [time for time in times if time > deadline]
    return -(-len(late) // periods)


def _releases(account: PlainAccount, n: int) -> int:
    """In a period."""
    network = account.problem.networks[n]
    return network.repeats if network.paced else 1


def _of_responses(
    value: Callable[[PlainAccount, int], int], overall: Callable[[Sequence[int]], int] = max
) -> Callable[[PlainAccount, Objective], int]:
    """From what a network has to that of the objective's network, or of all."""

    def of(account: PlainAccount, objective: Objective) -> int:
        every = range(len(account.responses_ps))
        one = objective.network
        return overall([value(account, n) for n in (every if one is None else [one])])

    return of


def _latency(account: PlainAccount, objective: Objective) -> int:
    network = objective.network
    frame = account.frame
    return frame.frame_end_ps[0] if network is None else frame.latency_ps[0][network]


def _stretch(account: PlainAccount, objective: Objective) -> int:
    del objective
    rows = account.frame.schedule.groups
    alone = sum(row.alone_ps for row in rows)
    busy = sum(row.end_ps - row.start_ps for row in rows)
    if account.rates is not None:
        busy = account.rates.busy_ps
    return (busy - alone) * 10**6 // max(alone, 1)


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
    """From the last end of what the network waits for, or its arrival, to its own last end."""
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
    return sum(
        _loss_of(account.problem, account.design, n)
        for n in networks
        if objective.network in (None, n)
    )


def _memory_bytes(problem: Problem, design: DesignPoint) -> list[int]:
    """What each pool holds."""
    total = [0] * max(1, len(problem.memory_pools))
    for network in problem.networks:
        activations: dict[int, int] = {}
        loaded = set()
        for g, held in zip(network.groups, network.held_bytes, strict=True):
            u = int(design.units[g])
            unit = problem.units[u]
            activations[unit.memory_pool] = max(held, activations.get(unit.memory_pool, 0))
            loaded |= {(u, h) for h in (network.groups if unit.loads_whole_networks else [g])}
        for pool, held in activations.items():
            total[pool] += held
        for u, g in loaded:
            table = problem.units[u].weight_bytes
            assert table is not None, "check_problem"
            total[problem.units[u].memory_pool] += int(table[g])
    return total


def _loss_of(problem: Problem, design: DesignPoint, n: int) -> int:
    """What the groups of network n cost it together."""
    loss = 0
    for g in problem.networks[n].groups:
        table = problem.units[int(design.units[g])].loss_ppm
        assert table is not None, "check_problem"
        loss += int(table[g])
    return loss


PLAIN_OBJECTIVES: dict[ObjectiveKind, Callable[[PlainAccount, Objective], int]] = {
    ObjectiveKind.LATENCY: _latency,
    ObjectiveKind.INVERSE_LATENCY: lambda account, _: (
        -sum(10**18 // max(latency, 1) for latency in account.frame.latency_ps[0])
    ),
    ObjectiveKind.THROUGHPUT: _throughput,
    ObjectiveKind.ENERGY: lambda account, _: account.energy_fj,
    ObjectiveKind.POWER: lambda account, _: account.drawn_fj * 1000 // account.time_ps,
    ObjectiveKind.EFFICIENCY: _efficiency,
    ObjectiveKind.STRETCH: _stretch,
    ObjectiveKind.FAIRNESS: lambda account, _: (
        -min(_relative_rates_ppm(account.problem, account.stream_periods_ps))
    ),
    ObjectiveKind.TOKEN_RATE: _token_time,
    ObjectiveKind.TOKEN_ENERGY: _token_energy,
    ObjectiveKind.RELATIVE_RESPONSE: _of_responses(
        lambda account, n: (
            10**6 * account.responses_ps[n][-1] * _releases(account, n) // account.time_ps
        )
    ),
    ObjectiveKind.RESPONSE: _of_responses(lambda account, n: account.responses_ps[n][-1]),
    ObjectiveKind.RESPONSE_95: _of_responses(lambda account, n: _share_95(account.responses_ps[n])),
    ObjectiveKind.JITTER: _of_responses(
        lambda account, n: account.responses_ps[n][-1] - account.responses_ps[n][0]
    ),
    ObjectiveKind.MISSES: _of_responses(_late, sum),
    ObjectiveKind.ACCURACY_LOSS: _accuracy_loss,
    ObjectiveKind.MEMORY: lambda account, _: sum(_memory_bytes(account.problem, account.design)),
}
"""The integer of each kind of objective."""


def _broken_limits(account: PlainAccount) -> list[Broken]:
    problem, frame = account.problem, account.frame
    broken = []
    what = "response" if account.responses_ps else "latency"
    for network, latency in zip(problem.networks, account.latencies_ps, strict=True):
        deadline = network.deadline_ps
        if deadline is not None and latency > deadline and network.max_misses is None:
            why = f"{what} of {network.name} is {latency} ps, above {deadline} ps"
            broken.append(Broken(f"{what} of {network.name}", why))
    broken += _broken_limits_of_responses(account)
    # None where networks share a frame.
    streams = zip(problem.networks, problem.images, account.stream_periods_ps, strict=False)
    for network, images, each in streams:
        rate, least = images * (10**18 // each), network.min_rate_uhz
        if least is not None and rate < least:
            why = f"rate of {network.name} is {rate} uHz, at least {least} asked for"
            broken.append(Broken(f"rate of {network.name}", why))
    makespan, period = frame.frame_end_ps[0], problem.execution.period_ps
    if account.rates is not None:
        if account.rates.window_ps is None:
            why = "nothing recurs: the units are overloaded"
            broken.append(Broken("time until all recurs", why))
        elif account.rates.recurs_ps > MAX_PERIODS * account.time_ps:
            why = f"all recurs after {account.rates.recurs_ps} ps, above {MAX_PERIODS} periods"
            broken.append(Broken("time until all recurs", why))
    elif period is not None and makespan > period:
        why = f"the makespan is {makespan} ps, above the period of {period}"
        broken.append(Broken("makespan within the period", why))
    cap, budget = problem.power_cap_mw, problem.energy_budget_fj
    if cap is not None and account.drawn_fj > cap * account.time_ps:
        broken.append(Broken("power", f"power is above the cap of {cap} mW"))
    if budget is not None and account.energy_fj > budget:
        why = f"energy is {account.energy_fj} fJ, at most {budget} allowed"
        broken.append(Broken("energy", why))
    return broken


def _broken_limits_of_responses(account: PlainAccount) -> list[Broken]:
    found = _summaries(account)
    limited = [
        (f"{words} of {network.name}", getattr(found[n], field), getattr(network, limit))
        for words, field, limit in (
            ("95th percentile", "percentile_95_ps", "deadline_95_ps"),
            ("jitter", "jitter_ps", "max_jitter_ps"),
            ("misses", "misses", "max_misses"),
        )
        for n, network in enumerate(account.problem.networks)
        if getattr(network, limit) is not None
    ]
    return [
        Broken(name, f"{name}: {value}, at most {most} allowed")
        for name, value, most in limited
        if value > most
    ]


def _relative_rates_ppm(problem: Problem, periods: tuple[int, ...]) -> list[int]:
    """Each network's rate, one frame in its period, as a share of one frame in its time alone."""
    pairs = zip(_times_alone(problem), periods, strict=True)
    return [min(10**6 * time // period, INT64_MAX) for time, period in pairs]


@lru_cache(maxsize=1)
def _times_alone(problem: Problem) -> tuple[int, ...]:
    """Per network the least time of a frame with all of it on one unit at one choice of clocks;
    what cannot run there counts as it is anywhere at best."""
    # [unit][group][operating points]: all repeats together
    times = [_frame_times(problem, u) for u in range(len(problem.units))]
    least = []
    for network in problem.networks:
        best = {g: min(t for unit in times for t in unit[g] if t > 0) for g in network.groups}
        frames = []
        for unit in times:
            for choice in zip(*(unit[g] for g in network.groups), strict=True):
                pairs = zip(network.groups, choice, strict=True)
                frames.append(sum(time if time > 0 else best[g] for g, time in pairs))
        least.append(min(frames))
    return tuple(least)


def _frame_times(problem: Problem, u: int) -> list[list[int]]:
    unit, rows = problem.units[u], []
    for g, n in enumerate(problem.network_of):
        pairs = zip(unit.time_ps[g].flat, unit.steps_ps[g].flat, strict=True)
        repeats = range(problem.networks[n].repeats)
        rows.append([sum(int(t) + k * int(s) for k in repeats) if t > 0 else -1 for t, s in pairs])
    return rows


def broken_rules(problem: Problem, design: DesignPoint) -> list[Broken]:
    """Return the mapping rules and limits that the choices alone break."""
    broken = []
    units = design.units.tolist()
    for g, u in enumerate(units):
        if not problem.allowed[g, u]:
            broken.append(Broken(None, f"group {g} may not be on {problem.units[u].name}"))
    used = {clock for u in set(units) for clock in problem.units[u].clocks}
    for d, domain in enumerate(problem.domains):
        needed = not domain.may_be_off or d in used
        if needed and not domain.allowed[int(design.operating_points[d])]:
            why = f"{domain.name} may not have operating point {design.operating_points[d]}"
            broken.append(Broken(None, why))
    begun = [
        problem.unit_of[units[g]]
        for network in problem.networks
        for g in network.groups
        if g == network.first_group or units[g] != units[g - 1]
    ]
    units = [problem.unit_of[u] for u in units]
    for network in problem.networks:
        count = sum(
            units[source] != units[target]
            for source, target in problem.edges
            if source in network.groups
        )
        if network.max_transitions is not None and count > network.max_transitions:
            found = f"{network.name} has {pluralize(count, 'transition')}"
            why = f"{found}, at most {network.max_transitions} allowed"
            broken.append(Broken(f"transitions of {network.name}", why))
    for u, unit in enumerate(problem.units):
        count = begun.count(u)
        if unit.max_segments is not None and count > unit.max_segments:
            found = f"{unit.unit_name} has {pluralize(count, 'segment')}"
            why = f"{found}, at most {unit.max_segments} allowed"
            broken.append(Broken(f"segments on {unit.unit_name}", why))
    for n, network in enumerate(problem.networks):
        loss = 0 if network.max_loss_ppm is None else _loss_of(problem, design, n)
        if network.max_loss_ppm is not None and loss > network.max_loss_ppm:
            why = f"{network.name} loses {loss} ppm, at most {network.max_loss_ppm} allowed"
            broken.append(Broken(f"accuracy loss of {network.name}", why))
    return broken + _broken_caps(problem, design)


def _broken_caps(problem: Problem, design: DesignPoint) -> list[Broken]:
    caps = [("memory", problem.memory_cap_bytes)]
    caps += [(f"memory of {pool.name}", pool.cap_bytes) for pool in problem.memory_pools]
    if all(cap is None for _, cap in caps):
        return []
    held = _memory_bytes(problem, design)
    return [
        Broken(name, f"{name} is {taken} bytes, at most {cap} allowed")
        for (name, cap), taken in zip(caps, [sum(held), *held], strict=bool(problem.memory_pools))
        if cap is not None and taken > cap
    ]
