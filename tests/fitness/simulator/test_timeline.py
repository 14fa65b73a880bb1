"""The compiled timeline against the plain one, to the last picosecond, on random problems."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.oracles.frame_energy import frame_energy_fj
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_dispatch,
    with_priorities,
    with_rates,
)
from paretosoc.fitness import simulate as timeline
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.results.front.schedule import ScheduledGroup
from paretosoc.results.problem.execution import ENGINE, SHARED
from paretosoc.results.problem.problem import DesignPoint, Problem
from tests.support.features import compare_all
from tests.support.problems.chain_cases import busy_ps, has_engine, has_overtaking, has_sharing
from tests.support.sample import SAMPLE

CHUNKS, PER_CHUNK = SAMPLE, 500
MIN_OF_CHUNK = {
    **{f"{count} networks": 80 for count in (1, 2, 3, 4)},
    **{f"{count} units": 80 for count in (1, 2, 3, 4)},
    **{f"{count} frames in flight": 15 for count in (1, 2, 3, 4)},
    "graph": 80,
    "chains only": 80,
    "copy": 80,
    "repeats": 80,
    "waits for another": 80,
    "arrives late": 80,
    "later repeats take longer": 30,
    "hand-over to a first group": 10,
    "hand-over beside an edge": 10,
    "shared clock": 60,
    "host clock": 80,
    "clock off": 20,
    "cannot run": 80,
    "contention": 200,
    "no contention": 80,
    "slowed": 100,
    "transition": 200,
    "queued": 200,
    "tie of ready times on a unit": 100,
    "tie of frames": 150,
    "one overtakes another": 15,
    "groups of a network differ in priority": 20,
    "engine": 20,
    "engine on a shared unit": 20,
    "engines that join in their middle": 40,
    "sharing": 20,
    "a repeat is released later than the one before ends": 4,
    "a repeat ends later than the next is released": 4,
    "ends at one instant": 50,
    "a frame released by another's end": 100,
}
"""How many problems of a chunk must show the feature, so that agreement means something."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_compiled_equals_plain(chunk: int) -> None:
    compare_all(compare, range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK), MIN_OF_CHUNK)


def compare(seed: int) -> set[str]:
    """Asserts that both agree on problem ``seed``; returns the features that it shows."""
    rng = np.random.default_rng(seed)
    shape = RandomShape(
        groups=(1, 4),
        ties=seed % 2 == 0,
        contention=seed % 8 not in (0, 1, 4),
        copies=True,
        phases=seed % 3 > 0,
    )
    problem = random_problem(rng, shape)
    if seed % 11 < 6:
        problem = with_priorities(np.random.default_rng([seed, 1]), problem)
    if seed % 13 < 3 and not problem.has_phases:
        problem = with_rates(np.random.default_rng([seed, 2]), problem)
    problem = with_dispatch(np.random.default_rng([seed, 3]), problem)
    design = random_design(rng, problem)
    in_flight = int(rng.integers(1, 5))
    frames = int(rng.integers(1, 5))

    plain = plain_timeline.simulate(problem, design, frames=frames, in_flight=in_flight)
    compiled = timeline.simulate(problem, design, frames=frames, in_flight=in_flight)
    assert compiled.schedule == plain.schedule, f"seed {seed}"
    assert compiled.frame_end_ps == plain.frame_end_ps, f"seed {seed}"
    assert compiled.latency_ps == plain.latency_ps, f"seed {seed}"

    alone = plain if frames == 1 else plain_timeline.simulate(problem, design)
    row = design.row
    result = timeline.make_evaluator(problem)(row[None])
    assert result.possible.tolist() == [True], f"seed {seed}"
    assert result.makespan_ps.tolist() == [alone.schedule.makespan_ps], f"seed {seed}"
    if problem.has_rates and alone.schedule.makespan_ps > problem.execution.period_ps:
        # The rest is of what recurs: tests/dse/workload/test_releases.py.
        return features(problem, design, plain, frames, in_flight)
    assert result.latency_ps.tolist() == [list(alone.latency_ps[0])], f"seed {seed}"
    energy = frame_energy_fj(problem, design)
    assert result.energy_fj.tolist() == [energy], f"seed {seed}"
    assert result.busy_ps.tolist() == [busy_ps(problem, alone.schedule.groups)], f"seed {seed}"
    return features(problem, design, plain, frames, in_flight)


def features(
    problem: Problem,
    design: DesignPoint,
    played: plain_timeline.PlainTimeline,
    frames: int,
    in_flight: int,
) -> set[str]:
    targets = Counter(target for _, target in problem.edges)
    chain = sum(len(network.group_names) - 1 for network in problem.networks)
    first_clocks = [unit.clocks[0] for unit in problem.units]
    used = {clock for u in set(design.units.tolist()) for clock in problem.units[u].clocks}
    groups = played.schedule.groups
    queue = Counter((group.unit, group.ready_ps) for group in groups)
    frames_ready = {(group.unit, group.ready_ps, group.frame) for group in groups}
    ends = Counter(group.end_ps for group in groups)
    contention = any(unit.contention for unit in problem.units)

    def released(group: ScheduledGroup) -> int:
        return problem.release_ps(group.network, group.repeat - 1) if group.frame == 1 else -1

    return {
        f"{len(problem.networks)} networks",
        f"{len(problem.units)} units",
        f"{min(frames, in_flight)} frames in flight",
        "contention" if contention else "no contention",
        *(
            name
            for name, holds in {
                "graph": any(count > 1 for count in targets.values()),
                "chains only": len(problem.edges) == chain and max(targets.values(), default=0) < 2,
                "copy": any(is_copy(problem, n) for n in range(1, len(problem.networks))),
                "repeats": any(network.repeats > 1 for network in problem.networks),
                "waits for another": any(network.waits_for for network in problem.networks),
                "arrives late": any(network.arrival_ps for network in problem.networks),
                "later repeats take longer": any(
                    group.repeat > 1
                    and problem.units[group.unit].step_ps is not None
                    and problem.networks[group.network].repeats > 1
                    for group in groups
                ),
                "hand-over to a first group": any(
                    design.units[a] != design.units[b] and b not in targets
                    for a, b in problem.handovers
                ),
                "hand-over beside an edge": any(
                    design.units[a] != design.units[b] and b in targets
                    for a, b in problem.handovers
                ),
                "shared clock": len(set(first_clocks)) < len(first_clocks),
                "host clock": any(len(unit.clocks) == 3 for unit in problem.units),
                "clock off": any(
                    problem.domains[clock].may_be_off and clock not in used
                    for clock in first_clocks
                ),
                "cannot run": not problem.allowed.all(),
                "slowed": any(group.end_ps - group.start_ps > group.alone_ps for group in groups),
                "transition": any(
                    problem.transition_ps[e, design.units[a], design.units[b]] > 0
                    for e, (a, b) in enumerate(problem.edges)
                ),
                "queued": any(group.start_ps > group.ready_ps for group in groups),
                "tie of ready times on a unit": any(count > 1 for count in queue.values()),
                "tie of frames": len(frames_ready) > len(queue),
                "a repeat is released later than the one before ends": any(
                    problem.networks[g.network].paced and g.repeat > 1 and g.ready_ps == released(g)
                    for g in groups
                ),
                "a repeat ends later than the next is released": any(
                    problem.networks[g.network].paced and g.repeat > 1 and g.ready_ps > released(g)
                    for g in groups
                    if g.group not in targets
                ),
                "engine": has_engine(problem, groups, ENGINE),
                "engine on a shared unit": has_engine(problem, groups, SHARED),
                "engines that join in their middle": any(problem.joins_engines),
                "sharing": has_sharing(problem, groups),
                "one overtakes another": has_overtaking(
                    problem.group_priorities(design).tolist(), groups
                ),
                "groups of a network differ in priority": any(
                    len(set(levels)) > 1 for levels in problem.priorities(design)
                ),
                "ends at one instant": any(count > 1 for count in ends.values()),
                "a frame released by another's end": frames > in_flight,
            }.items()
            if holds
        ),
    }


def is_copy(problem: Problem, n: int) -> bool:
    """Whether network n costs what the one before it costs."""
    before, after = problem.networks[n - 1], problem.networks[n]
    return len(before.group_names) == len(after.group_names) and all(
        np.array_equal(
            unit.time_ps[before.groups.start : before.groups.stop],
            unit.time_ps[after.groups.start : after.groups.stop],
        )
        for unit in problem.units
    )


def test_rows_do_not_disturb_one_another() -> None:
    """A population in any order gives what each row gives alone, impossible rows among them."""
    rng = np.random.default_rng(7)
    shape = RandomShape(networks=(3, 3), units=(3, 3), unsupported=0.05)
    problem = random_problem(rng, shape)
    counts = [len(domain.frequencies_khz) for domain in problem.domains]
    units = rng.integers(0, 3, (200, problem.group_count))
    points = np.stack([rng.integers(0, count, 200) for count in counts], axis=1)
    rows = np.concatenate([units, points], axis=1)
    evaluate = timeline.make_evaluator(problem)
    together = evaluate(rows)
    allowed = problem.allowed[np.arange(problem.group_count), units].all(axis=1)
    assert 20 < allowed.sum() < 180
    assert together.possible.tolist() == allowed.tolist()
    order = rng.permutation(200)
    shuffled = evaluate(rows[order])
    assert shuffled.energy_fj[np.argsort(order)].tolist() == together.energy_fj.tolist()
    for index in np.flatnonzero(allowed)[:50]:
        alone = timeline.make_evaluator(problem)(rows[index : index + 1])
        assert alone.makespan_ps[0] == together.makespan_ps[index]
        assert alone.latency_ps[0].tolist() == together.latency_ps[index].tolist()
        assert alone.energy_fj[0] == together.energy_fj[index]
