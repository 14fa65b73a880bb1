"""Random chains, and what all evaluators of the timeline say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.oracles.frame_energy import frame_energy_fj
from benchmarks.problems.random_problem import (
    RandomShape,
    random_problem,
    with_dispatch,
    with_priorities,
)
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.simulate import Evaluation, Kernel, make_evaluator
from paretosoc.fitness.simulator.chains.chain_tables import LANES, are_chains
from paretosoc.results.front.schedule import ScheduledGroup
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS, TIME_LIMIT_PS
from paretosoc.results.problem.execution import ENGINE, SearchedOrder
from paretosoc.results.problem.problem import Problem

ROWS = 2 * LANES + 3


def chains_of(seed: int, networks: tuple[int, int]) -> Problem:
    """Chains, half of them with times that are few small multiples; ``networks``: bounds of their
    number."""
    rng = np.random.default_rng(seed)
    shape = RandomShape(
        networks=networks,
        groups=(1, 6),
        graphs=False,
        ties=seed % 2 == 0,
        contention=seed % 8 not in (0, 1),
        copies=True,
        unsupported=0.1 if seed % 3 == 0 else 0.02,
    )
    problem = random_problem(rng, shape)
    free = tuple(replace(network, waits_for=()) for network in problem.networks)
    transition = problem.transition_ps * (seed % 5 > 0)
    units = problem.units
    if seed % 7 == 3:
        largest = max(int(unit.time_ps.max()) for unit in units)
        factor = (TIME_LIMIT_PS - 1) // largest
        units = tuple(
            replace(unit, time_ps=np.where(unit.time_ps < 0, -1, unit.time_ps * factor))
            for unit in units
        )
    problem = replace(problem, networks=free, transition_ps=transition, units=units)
    problem = with_dispatch(np.random.default_rng([seed, 2]), problem)
    if seed % 7 == 3:
        # Transitions that are work would make these times too long.
        units = tuple(replace(unit, moves_tensors=False) for unit in problem.units)
        problem = replace(problem, units=units)
    numbers = np.random.default_rng([seed, 1])
    ranked = with_priorities(numbers, problem) if seed % 11 < 5 else problem
    # Groups with priorities of their own are no chains.
    by_groups = ranked.searched_order is SearchedOrder.GROUPS
    return replace(ranked, searched_order=SearchedOrder.NETWORKS) if by_groups else ranked


def rows_of(problem: Problem, seed: int) -> NDArray[np.int64]:
    """Random rows, some of which put a group where it cannot run."""
    rng = np.random.default_rng(seed + 50_000)
    units = rng.integers(0, len(problem.units), (ROWS, problem.group_count))
    keep = np.stack([rng.choice(np.flatnonzero(row), ROWS) for row in problem.allowed], axis=1)
    units = np.where(rng.random((ROWS, 1)) < 0.8, keep, units)
    points = [rng.integers(0, len(d.frequencies_khz), ROWS) for d in problem.domains]
    points += [rng.integers(0, PRIORITY_LEVELS, ROWS) for _ in range(problem.priority_count)]
    return np.concatenate([units, np.stack(points, axis=1)], axis=1)


def assert_same(one: Evaluation, other: Evaluation, what: str) -> None:
    for field in fields(Evaluation):
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(left, right), f"{what}: {field.name}"


def busy_ps(problem: Problem, groups: Sequence[ScheduledGroup]) -> int:
    """How long units run at least one group, added up."""
    busy, until = 0, dict.fromkeys(problem.unit_of, 0)
    for group in sorted(groups, key=lambda entry: entry.start_ps):
        unit = problem.unit_of[group.unit]
        busy += max(0, group.end_ps - max(group.start_ps, until[unit]))
        until[unit] = max(until[unit], group.end_ps)
    return busy


def has_engine(problem: Problem, groups: Sequence[ScheduledGroup], dispatch: str) -> bool:
    """Whether an engine of several groups runs on a unit with this dispatch."""
    runs = {(entry.frame, entry.network, entry.repeat, entry.group): entry for entry in groups}
    return any(
        problem.units[entry.unit].dispatch == dispatch
        and (after := runs.get((*key[:3], key[3] + 1))) is not None
        and (after.unit, after.start_ps) == (entry.unit, entry.end_ps)
        for key, entry in runs.items()
    )


def has_sharing(problem: Problem, groups: Sequence[ScheduledGroup]) -> bool:
    """Whether two groups run on one unit at once."""
    return busy_ps(problem, groups) < sum(group.end_ps - group.start_ps for group in groups)


def has_overtaking(priorities: Sequence[int], groups: Sequence[ScheduledGroup]) -> bool:
    """Whether something waits for its unit while a smaller priority starts that was ready later."""
    return any(
        one.unit == other.unit
        and priorities[one.group] < priorities[other.group]
        and other.ready_ps < one.ready_ps <= one.start_ps < other.start_ps
        for one in groups
        for other in groups
    )


def compare(seed: int, networks: tuple[int, int], kernel: Kernel) -> set[str]:
    """Asserts that the kernel, the general one and the plain evaluator agree on problem ``seed``;
    returns the features that it shows."""
    problem = chains_of(seed, networks)
    assert are_chains(problem)
    rows = rows_of(problem, seed)
    fast = make_evaluator(problem, kernel=kernel)(rows)
    assert_same(fast, make_evaluator(problem, kernel=Kernel.GENERAL)(rows), f"seed {seed}")
    index = int(np.argmax(fast.possible))
    slowed = tie = overtakes = engine = sharing = False
    if fast.possible[index]:
        design = problem.design_of(rows[index])
        played = plain_timeline.simulate(problem, design)
        groups = played.schedule.groups
        assert fast.makespan_ps[index] == played.schedule.makespan_ps, f"seed {seed}"
        assert fast.latency_ps[index].tolist() == list(played.latency_ps[0]), f"seed {seed}"
        energy = frame_energy_fj(problem, design)
        # Modulo 2**64: times near the limit are minutes, and their energy is beyond int64.
        assert (int(fast.energy_fj[index]) - energy) % (1 << 64) == 0, f"seed {seed}"
        assert fast.busy_ps[index] == busy_ps(problem, groups), f"seed {seed}"
        engine = has_engine(problem, groups, ENGINE)
        sharing = has_sharing(problem, groups)
        slowed = any(group.end_ps - group.start_ps > group.alone_ps for group in groups)
        overtakes = has_overtaking(problem.group_priorities(design).tolist(), groups)
        tie = max(Counter((group.unit, group.ready_ps) for group in groups).values()) > 1
    units = problem.units
    return {
        f"{len(problem.networks)} networks",
        f"{len(units)} units",
        *(
            name
            for name, holds in {
                "repeats": any(network.repeats > 1 for network in problem.networks),
                "arrives late": any(network.arrival_ps for network in problem.networks),
                "copy": len({len(network.group_names) for network in problem.networks})
                < len(problem.networks),
                "impossible rows": not fast.possible.all(),
                "no contention": not any(unit.contention for unit in units),
                "slowed": slowed,
                "engine": engine,
                "sharing": sharing,
                "no transitions": not problem.transition_ps.any(),
                "ties": seed % 2 == 0,
                "a tie between networks": tie,
                "one overtakes another": overtakes,
                "times near the limit": any(
                    unit.time_ps.max() > TIME_LIMIT_PS * 0.99 for unit in units
                ),
            }.items()
            if holds
        ),
    }
