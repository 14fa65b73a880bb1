"""Check that every sum and product of a problem stays within int64."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_S, UHZ_PS
from paretosoc.dse.workload.options import as_written
from paretosoc.fitness.branch_and_bound.choices import largest_power_mw
from paretosoc.fitness.check.make_facts import make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.contention import largest_products, parameters_at
from paretosoc.fitness.simulator.state import HIGH_FJ, OF_ONE_STREAM
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import (
    LOSS_LIMIT,
    MAX_PERIODS,
    SHARING_WHOLE,
    TIME_LIMIT_PS,
    WORK_PER_PS,
)
from paretosoc.results.problem.execution import SHARED, LongRun, frames_in_flight
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.parts import NO_LIMIT_KBPS, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import Problem

INT64_LIMIT = 1 << 63
TIME_FACTOR = 1000
"""Remainders of times are multiplied by this on the way to mean power and stretch."""
POWER_FACTOR = 10**6
"""Factor from mW to uW. If a schedule is longer than its period, its mean power counts more than is
drawn at any instant."""


def fits_int64(problem: Problem, target: LemmaTarget | None = None) -> bool:
    """Return whether no sum or product of figures of a problem and a claim leaves int64, so that
    the compiled checker can have them.

    Args:
        target: of the claim. None: only members and design points are checked.
    """
    try:
        check_magnitudes(problem)
        if target is not None:
            target.require_bounds(problem)
        make_facts(problem, target or LemmaTarget((), ()))
    except ResultError:
        return False
    return True


def check_magnitudes(problem: Problem) -> None:
    """Accept a problem whose objectives, constrained figures and their products fit in int64.

    The bound: every group takes its longest time at clocks that may be chosen, slowed down as much
    as its own demand and the largest of all other units allow, one group after the other, and all
    units draw their largest power all the time.

    Raises:
        ResultError: with the bound that is passed.
    """
    _check_contention(problem)
    power = largest_power_mw(problem)
    if power * POWER_FACTOR >= INT64_LIMIT:
        raise ResultError(
            f"the largest power must be below 2**63 / 10**6 mW (9.2 GW), got {power} mW"
        )
    slowest = np.zeros(problem.group_count, dtype=np.float64)
    factor = 1000 if problem.tolerance_permille is None else problem.tolerance_permille[1]
    for u, unit in enumerate(problem.units):
        alone = problem.last_ps(u).reshape(problem.group_count, -1).max(axis=1)
        moving = problem.most_moving_ps[:, u]
        longest = -(-int((alone + moving).max(initial=0)) * factor // 1000)
        if longest >= TIME_LIMIT_PS:
            raise ResultError(
                f"unit {unit.name!r}: a group's time must be below 2**47 ps (140 s), got "
                f"{longest} ps"
            )
        slowed = _slowed(problem, u) * (factor / 1000) * _most_sharing(problem, u)
        slowest = np.maximum(slowest, np.where(problem.allowed[:, u], slowed, 0.0))
    horizon = 0.0
    for n, network in enumerate(problem.networks):
        edges = [e for e, (source, _) in enumerate(problem.edges) if source in network.groups]
        passing = sum(float(problem.transition_ps[e].max(initial=0)) for e in edges)
        horizon += sum(
            float(problem.handovers_ps[h].max(initial=0))
            for h, (source, _) in enumerate(problem.handovers)
            if source in network.groups
        )
        work = float(slowest[list(network.groups)].sum())
        copying = sum(_longest_copy(problem, e) for e in edges)
        horizon += problem.ready_ps(n, 0) + network.repeats * (work + passing + copying)
    if isinstance(problem.execution, LongRun):
        _check_long_run(problem, slowest, horizon, power)
    period = float(problem.execution.period_ps or 0)
    remedy = _remedy(problem)
    if period > horizon and not problem.has_rates:
        remedy = f"raise frame rates ({as_written('frames_per_second')}) or rate_hz of networks"
    horizon = horizon + period if problem.has_rates else max(horizon, period)
    played = horizon
    if problem.has_rates:
        _check_longest_group(problem, slowest, power)
        played += MAX_PERIODS * period
    # The sums are floats. A margin keeps their rounding on the safe side.
    horizon *= 1.001
    if horizon * power >= INT64_LIMIT:
        raise ResultError(
            f"the longest schedule, or the period, could take {horizon / PS_PER_S:.3g} s at "
            f"{power / 1000:.3g} W: more than 63 bits hold in femtojoules; {remedy}"
        )
    if played * 1.001 * TIME_FACTOR >= INT64_LIMIT:
        raise ResultError(
            f"the longest schedule, or the period, could take {played / PS_PER_S:.3g} s: less "
            f"than 2**63 fs (9223 s) is required; {remedy}"
        )
    _check_rates(problem)
    _check_memory(problem)


def _most_sharing(problem: Problem, u: int) -> float:
    """Return by how much all networks that it can run slow each other on a shared unit at most."""
    unit = problem.units[u]
    count = sum(problem.allowed[list(each.groups), u].any() for each in problem.networks)
    if unit.dispatch != SHARED or count <= 1:
        return 1.0
    least = WORK_PER_PS - LOSS_LIMIT
    share = WORK_PER_PS * SHARING_WHOLE // (count * (SHARING_WHOLE + unit.sharing_permille))
    return least / max(least * share // WORK_PER_PS, 1)


def _check_memory(problem: Problem) -> None:
    """Check the memory of all pools if each holds the activations of all networks, and every unit
    that loads whole networks holds all weights."""
    activations = sum(network.activation_bytes for network in problem.networks)
    total = activations * max(1, len(problem.memory_pools)) + sum(
        int(unit.weight_bytes.sum()) for unit in problem.units if unit.weight_bytes is not None
    )
    if total >= INT64_LIMIT:
        raise ResultError(f"memory of all pools must stay below 2**63 bytes, got up to {total}")


def _check_rates(problem: Problem) -> None:
    """Accept networks whose rates add up in int64 (HaX-CoNN Eq. 10): no latency is below the
    longest of the network's groups, each in its shortest time."""
    if all(entry.kind is not ObjectiveKind.INVERSE_LATENCY for entry in problem.objectives):
        return
    shortest = np.full(problem.group_count, TIME_LIMIT_PS, dtype=np.int64)
    for u, unit in enumerate(problem.units):
        times = unit.time_ps.reshape(problem.group_count, -1).min(axis=1)
        shortest = np.where(problem.allowed[:, u], np.minimum(shortest, times), shortest)
    latencies = [int(shortest[list(network.groups)].max()) for network in problem.networks]
    total = sum(UHZ_PS // max(latency, 1) for latency in latencies)
    # A tenth more, the largest tolerance of a proof, must fit as well.
    if 2 * total >= INT64_LIMIT:
        raise ResultError(
            f"objective 'inverse-latency': rates of all networks must add up to less than "
            f"2**62 uHz, got up to {total} with latencies from {min(latencies)} ps"
        )


def _check_contention(problem: Problem) -> None:
    """Accept contention parameters whose products with the demands fit, and demands whose sum fits
    when it is multiplied by a rate."""
    demands = sum(int(unit.demand_kbps.max(initial=0)) for unit in problem.units)
    if demands >= NO_LIMIT_KBPS:
        raise ResultError(f"demands of all units must add up to less than 2**46, got {demands}")
    for u, unit in enumerate(problem.units):
        if unit.contention is None:
            continue
        columns = [column.tolist() for column in unit.contention.columns.values()]
        for point, own, _ in _by_memory_point(problem, u):
            row = tuple(column[point] for column in columns)
            size = max(largest_products(row, int(own.max(initial=0))).values())
            if size >= INT64_LIMIT:
                raise ResultError(
                    f"unit {unit.name!r}: products of its contention parameters and demands must "
                    f"be below 2**63, got {size} at operating point {point} of the memory"
                )


def _check_long_run(problem: Problem, slowest: FloatArray, frame_ps: float, power: int) -> None:
    """Check that the window and energy of streams fit. No execution waits for more than can be
    queued before it: in every frame in flight the longest group of a chain, else each group once,
    and with priorities, which let several overtake, each execution. So a frame takes at most that
    for each of its executions, and the transitions. Until 8192 executions have ended something
    always runs, is in transition or has yet to arrive."""
    counts = [network.repeats * len(network.groups) for network in problem.networks]
    executions = sum(counts) if problem.execution.has_frame else max(counts)
    in_flight = frames_in_flight(problem.execution)
    queued = in_flight * sum(
        _most_ahead(problem, network, slowest[list(network.groups)]) for network in problem.networks
    )
    rounds = 2 * in_flight + 9
    arrival = max(network.arrival_ps + network.jitter_ps for network in problem.networks)
    delays = (problem.transition_ps, problem.handovers_ps)
    longest = max(float(delay.max(initial=0)) for delay in delays)
    each = float(slowest.max()) + max(longest, arrival)
    window = rounds * (executions * queued + frame_ps)
    window += (OF_ONE_STREAM[1] + len(problem.units)) * each
    if window * 1.001 >= INT64_LIMIT:
        raise ResultError(
            f"the window in which throughput is counted could last {window / PS_PER_S:.3g} s: more "
            f"than 63 bits hold in picoseconds; {_remedy(problem)}"
        )
    _check_longest_group(problem, slowest, power)


def _remedy(problem: Problem) -> str:
    slow = f"leave out the slowest clocks ({as_written('fixed')}) or units ({as_written('units')})"
    if not problem.has_rates:
        return slow
    period = (problem.execution.period_ps or 0) / PS_PER_S
    return f"choose rates that divide each other (their period is {period:.3g} s), or {slow}"


def _check_longest_group(problem: Problem, slowest: FloatArray, power: int) -> None:
    """Check that the energy of the longest group fits beside the sums so far."""
    longest = float(slowest.max(initial=0.0))
    if longest * max(power, 1) * 1.001 >= HIGH_FJ:
        raise ResultError(
            f"one group could take {longest / PS_PER_S:.3g} s at {power / 1000:.3g} W: more than "
            f"62 bits hold in femtojoules; {_remedy(problem)}"
        )


def _most_ahead(problem: Problem, network: ProblemNetwork, times: FloatArray) -> float:
    """Return the longest wait for one frame of a network. ``times``: times of its groups."""
    if problem.has_priorities:
        return network.repeats * float(times.sum())
    if any(problem.runs_engines):
        return float(times.sum())
    return float(times.max() if _is_chain(problem, network) else times.sum())


def _is_chain(problem: Problem, network: ProblemNetwork) -> bool:
    """Return whether each of its groups but the first waits for the one before."""
    inside = {edge for edge in problem.edges if edge[0] in network.groups}
    return all((g - 1, g) in inside for g in network.groups[1:])


def _longest_copy(problem: Problem, e: int) -> float:
    """Return the longest time of writing an edge's tokens to a channel and reading them."""
    if problem.edge_tokens is None:
        return 0.0
    channels = [unit.channels for unit in problem.units if unit.channels is not None]
    write = max((int(entry.write_fs.max(initial=0)) for entry in channels), default=0)
    read = max((int(entry.read_fs.max(initial=0)) for entry in channels), default=0)
    return float(problem.edge_tokens[e]) * (write + read) / 1000 + 2


def _slowed(problem: Problem, u: int) -> FloatArray:
    """Return [groups]: the longest time on unit ``u`` at any operating point, slowdown included."""
    unit = problem.units[u]
    longest = np.zeros(problem.group_count, dtype=np.float64)
    demands = [
        {point: int(demand.max(initial=0)) for point, demand, _ in _by_memory_point(problem, v)}
        for v in range(len(problem.units))
    ]
    for point, own, time in _by_memory_point(problem, u):
        loss: FloatArray = np.zeros(own.shape, dtype=np.float64)
        if unit.contention is not None:
            others = sum(of_unit[point] for v, of_unit in enumerate(demands) if v != u)
            loss = _max_lost(unit, point, own, others)
        most = np.maximum(time, 0) + problem.most_moving_ps[:, u, None]
        slowed = most * (WORK_PER_PS / (WORK_PER_PS - loss))
        longest = np.maximum(longest, slowed.max(axis=1))
    return longest


def _by_memory_point(problem: Problem, u: int) -> list[tuple[int, IntArray, IntArray]]:
    """Return (memory's operating point, demands, last repeats' times), [groups, other points]."""
    unit, longest = problem.units[u], problem.last_ps(u)
    groups = longest.shape[0]
    memory = problem.memory_domain
    if memory is None:
        return [(0, unit.demand_kbps.reshape(groups, -1), longest.reshape(groups, -1))]
    # A unit whose costs do not depend on the memory's clock has the same ones at each.
    axis = 1 + unit.clocks.index(memory) if memory in unit.clocks else None
    tables = []
    for point in np.flatnonzero(problem.domains[memory].allowed).tolist():
        demand, time = (
            table if axis is None else np.take(table, point, axis=axis)
            for table in (unit.demand_kbps, longest)
        )
        tables.append((point, demand.reshape(groups, -1), time.reshape(groups, -1)))
    return tables


def _max_lost(unit: ProblemUnit, point: int, own: IntArray, others: int) -> FloatArray:
    """Return the largest loss of rate of groups with these demands, in 1/65536, rounded up: that
    beside the others' largest."""
    table = unit.contention
    assert table is not None, "only units with contention are asked"
    normal, total, balance, peak, *_, memory = map(float, parameters_at(table, point))
    minor = min(others, peak) * float(table.minor_num[point]) / float(table.minor_den[point])
    span = own + balance - total
    gentle = np.clip(own + others - total, 0.0, np.maximum(span, 0.0)) * (
        float(table.proportional_num[point]) / float(table.proportional_den[point])
    )
    steep = (
        np.maximum(span, 0.0)
        * min(float(others), balance)
        * (float(table.intensive_num[point]) / float(table.intensive_den[point]))
    )
    heavy = np.where(own < total, gentle, steep) * ((own >= normal) & (span > 0))
    asked = own + float(others)
    excess = WORK_PER_PS * (1 - np.minimum(memory / np.maximum(asked, 1.0), 1.0))
    largest = np.maximum(np.maximum(heavy, minor), excess)
    bound: FloatArray = np.minimum(largest + 1.0, float(LOSS_LIMIT))
    return bound if others else np.zeros_like(bound)
