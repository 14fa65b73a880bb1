"""Networks that run freely: compiled against plain on random problems, and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.random_problem import RandomShape, random_design, random_problem
from fitness.objectives import make_outcomes
from fitness.reference.free_running import play_freely
from fitness.reference.objectives import plain_outcome
from fitness.simulate import make_pipeline_evaluator, row_of
from fitness.simulate_free_running import (
    MANY_ROWS,
    FreeRuns,
    dynamic_by_unit,
    make_free_run_evaluator,
    play_shown,
)
from fitness.simulator.chains.chain_tables import are_chains
from results.front.front import FreeRun
from results.problem.problem import DesignPoint, EnergyUse, Objective, ObjectiveKind, Problem
from tests.support.features import compare_all
from tests.support.small_problems import design, flat_loss, network, problem

PROBLEMS = 800
CHUNKS = 4
KINDS = (
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.POWER,
    ObjectiveKind.EFFICIENCY,
    ObjectiveKind.ENERGY,
)
LEAST_OF_CHUNK = {
    **{f"{count} networks": 25 for count in (1, 2, 3, 4)},
    **{f"{count} in flight": 40 for count in (1, 2, 3)},
    "graph": 35,
    "copy": 25,
    "repeats": 25,
    "contention": 70,
    "other counts": 60,
    "slowest is not the first": 30,
    "runs at the end": 30,
    "window shown": 80,
    "cut before the window": 20,
    "cut in the window": 8,
}


def freely(of: Problem, in_flight: int) -> Problem:
    return replace(
        of,
        networks=tuple(replace(entry, waits_for=(), arrival_ps=0) for entry in of.networks),
        objectives=tuple(Objective(kind) for kind in KINDS),
        energy_use=EnergyUse.PIPELINE,
        frames_in_flight=in_flight,
        free_running=True,
    )


def one(of: Problem, point: DesignPoint) -> tuple[int, list[int], int]:
    runs = make_free_run_evaluator(of)(row_of(point)[None])
    assert runs.possible.tolist() == [True]
    assert runs.dynamic_high.tolist() == [0]
    return int(runs.window_ps[0]), runs.inferences[0].tolist(), int(runs.dynamic_fj[0])


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_compiled_equals_plain(chunk: int) -> None:
    size = PROBLEMS // CHUNKS
    compare_all(compare, range(chunk * size, (chunk + 1) * size), LEAST_OF_CHUNK)


def compare(seed: int) -> set[str]:
    """Asserts that both agree on problem ``seed``; returns the features that it shows."""
    rng = np.random.default_rng(seed)
    shape = RandomShape(
        groups=(1, 4), ties=seed % 2 == 0, contention=seed % 8 not in (0, 1, 4), copies=True
    )
    case = freely(random_problem(rng, shape), int(rng.integers(1, 4)))
    point = random_design(rng, case)
    plain = play_freely(case, point)
    begin, end = plain.window_ps
    dynamic = plain.dynamic_fj(case, point)
    assert one(case, point) == (end - begin, list(plain.inferences), dynamic), f"seed {seed}"
    outcomes = make_outcomes(case)(row_of(point)[None])
    assert tuple(outcomes.objectives[0].tolist()) == plain_outcome(case, point).objectives
    most = int(rng.integers(1, 40)) if seed % 3 == 0 else 1000
    schedule, run = plain.shown(case, point, most=most)
    assert play_shown(case, point, most=most) == (schedule, run), f"seed {seed}"
    assert len(schedule.groups) < most + 2 * len(case.units)
    targets = Counter(target for _, target in case.edges)
    return {
        f"{len(case.networks)} networks",
        f"{case.frames_in_flight} in flight",
        *(
            name
            for name, holds in {
                "graph": any(count > 1 for count in targets.values()),
                "copy": any(
                    np.array_equal(
                        case.units[0].time_ps[a.groups.start : a.groups.stop],
                        case.units[0].time_ps[b.groups.start : b.groups.stop],
                    )
                    for a, b in zip(case.networks, case.networks[1:], strict=False)
                ),
                "repeats": any(entry.repeats > 1 for entry in case.networks),
                "contention": any(unit.contention for unit in case.units),
                "other counts": len(set(plain.inferences)) > 1,
                "slowest is not the first": plain.slowest > 0,
                "runs at the end": any(row.end_ps > end for row in schedule.groups),
                "window shown": run.shows_window,
                "cut before the window": run.shown_ps <= begin,
                "cut in the window": begin < run.shown_ps < end,
            }.items()
            if holds
        ),
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_window_that_is_shown_holds_what_is_claimed(seed: int) -> None:
    """Inferences and energy once more, from the schedule alone: frames that end in the window, and
    the parts of the executions that lie in it."""
    rng = np.random.default_rng(90_000 + seed)
    shape = RandomShape(groups=(1, 4), contention=True, copies=True)
    case = freely(random_problem(rng, shape), int(rng.integers(1, 4)))
    point = random_design(rng, case)
    schedule, run = play_shown(case, point, most=10**5)
    begin, end = run.window_ps
    assert run.shows_window
    last: dict[tuple[int, int], list[int]] = {}
    energy = 0
    for row in schedule.groups:
        if row.repeat == case.networks[row.network].repeats:
            last.setdefault((row.network, row.frame), []).append(row.end_ps)
        unit = case.units[row.unit]
        at = (row.group, *(int(point.operating_points[clock]) for clock in unit.clocks))
        energy += int(unit.dynamic_mw[at]) * max(min(row.end_ps, end) - max(row.start_ps, begin), 0)
    count = [0] * len(case.networks)
    for (n, _), ends in last.items():
        count[n] += len(ends) == len(case.networks[n].groups) and begin < max(ends) <= end
    assert one(case, point) == (end - begin, count, energy)
    assert run.inferences == tuple(count)


@pytest.mark.parametrize("seed", range(120))
def test_the_kernel_of_chains_equals_the_general_one(seed: int) -> None:
    rng = np.random.default_rng(60_000 + seed)
    shape = RandomShape(
        groups=(1, 6), ties=seed % 2 == 0, contention=seed % 4 != 0, copies=True, graphs=False
    )
    case = freely(random_problem(rng, shape), int(rng.integers(1, 4)))
    assert are_chains(case)
    rows = np.stack([row_of(random_design(rng, case)) for _ in range(20)])
    fast = make_free_run_evaluator(case, as_chains=True)(rows)
    general = make_free_run_evaluator(case, as_chains=False)(rows)
    assert_equal_runs(fast, general)


@pytest.mark.parametrize("jobs", [1, 2])
def test_few_rows_and_many_give_the_same(jobs: int) -> None:
    rng = np.random.default_rng(61_000)
    case = freely(random_problem(rng, RandomShape(groups=(2, 4), graphs=False)), 2)
    evaluate = make_free_run_evaluator(case, jobs=jobs)
    count = jobs * MANY_ROWS + 7
    rows = np.stack([row_of(random_design(rng, case)) for _ in range(count)])
    wanted = make_free_run_evaluator(case, as_chains=False)(rows)
    assert_equal_runs(evaluate(rows), wanted)
    few = evaluate(rows[-5:])
    assert few.window_ps.tolist() == wanted.window_ps[-5:].tolist()
    assert_equal_runs(evaluate(rows), wanted)


def assert_equal_runs(got: FreeRuns, wanted: FreeRuns) -> None:
    for name, values in vars(wanted).items():
        assert getattr(got, name).tolist() == values.tolist(), name


def test_what_a_chain_is() -> None:
    times = [[1]] * 4
    whole, pair = [network("a", 0, 4)], [network("a", 0, 2), network("b", 2, 2)]
    line = {(0, 1): 0, (1, 2): 0, (2, 3): 0}
    assert are_chains(problem(whole, times, edges=line))
    assert are_chains(problem(pair, times, edges={(0, 1): 0, (2, 3): 0}))
    assert not are_chains(problem(pair, times, edges={(0, 1): 0}))
    assert not are_chains(problem(whole, times, edges={**line, (0, 2): 0}))
    assert not are_chains(problem(whole, times))


def test_two_networks_that_never_meet() -> None:
    """7 ps on one unit, 3 ps on the other: the window is 8 x 7 ps, from 28 to 84, in which the
    second ends its frames 10 to 28."""
    case = problem([network("slow", 0, 1), network("fast", 1, 1)], [[7, -1], [-1, 3]])
    case = freely(case, 1)
    point = design([0, 1])
    assert one(case, point) == (56, [8, 19], 0)
    plain = play_freely(case, point)
    assert plain.window_ps == (28, 84)
    schedule, run = play_shown(case, point)
    assert run == FreeRun((28, 84), (8, 19), 84)
    shown = [(row.network, row.frame, row.start_ps, row.end_ps) for row in schedule.groups]
    slow = [(0, k, 7 * k - 7, 7 * k) for k in range(1, 13)]
    fast = [(1, k, 3 * k - 3, 3 * k) for k in range(1, 29)]
    assert sorted(shown) == slow + fast
    # Five have ended at 9 ps: what starts before then, of the slow one until 14 ps.
    schedule, run = play_shown(case, point, most=4)
    assert run.shown_ps == 9
    assert sorted((row.network, row.end_ps) for row in schedule.groups) == [
        *((0, 7), (0, 14)),
        *((1, 3), (1, 6), (1, 9)),
    ]
    assert plain.slowest == 0
    # The mean network makes (8 + 19) / 2 inferences in 56 ps: eight take 8 x 2 x 56 / 27.
    (values,) = make_outcomes(case)(row_of(point)[None]).objectives.tolist()
    assert values[0] == round(8 * 2 * 56 / 27)


def test_energy_counts_what_lies_in_the_window() -> None:
    """Idle power for 56 ps; the slow unit is busy all the time, the fast one too: its execution
    from 27 to 30 counts from 28, that from 81 to 84 whole."""
    case = problem([network("slow", 0, 1), network("fast", 1, 1)], [[7, -1], [-1, 3]])
    powers = (np.array([[5], [0]]), np.array([[0], [11]]))
    units = tuple(
        replace(unit, dynamic_mw=power.astype(np.int64), idle_mw=np.array([2], dtype=np.int64))
        for unit, power in zip(case.units, powers, strict=True)
    )
    case = freely(replace(case, units=units, board_mw=3), 1)
    point = design([0, 1])
    assert one(case, point)[2] == 56 * (5 + 11)
    row = row_of(point)[None]
    assert dynamic_by_unit(case, row, make_free_run_evaluator(case)(row)) == [[56 * 5, 56 * 11]]
    (values,) = make_outcomes(case)(row_of(point)[None]).objectives.tolist()
    whole = 56 * (3 + 2 + 2 + 5 + 11)
    assert values[1:] == [1000 * whole // 56, whole // 27, whole // 27]
    assert plain_outcome(case, point).objectives == tuple(values)


@pytest.mark.parametrize("seed", range(30))
def test_energy_of_a_unit_is_what_it_alone_would_draw(seed: int) -> None:
    rng = np.random.default_rng(70_000 + seed)
    case = freely(random_problem(rng, RandomShape(groups=(1, 6), units=(2, 4))), 2)
    rows = np.stack([row_of(random_design(rng, case)) for _ in range(10)])
    runs = make_free_run_evaluator(case)(rows)
    said = dynamic_by_unit(case, rows, runs)
    assert [sum(energies) for energies in said] == runs.dynamic_energies()
    for u in range(len(case.units)):
        units = tuple(
            replace(unit, dynamic_mw=unit.dynamic_mw * (v == u))
            for v, unit in enumerate(case.units)
        )
        alone = make_free_run_evaluator(replace(case, units=units))(rows)
        assert [energies[u] for energies in said] == alone.dynamic_energies()


def test_a_frame_ends_with_its_last_repeat() -> None:
    case = problem([network("slow", 0, 1), network("fast", 1, 1, repeats=2)], [[7, -1], [-1, 3]])
    # Frames of the second end every 6 ps: at 30, 36, ..., 84.
    assert one(freely(case, 1), design([0, 1])) == (56, [8, 10], 0)


def test_of_two_that_end_their_twelfth_frames_together_the_first_is_the_slowest() -> None:
    """One ends a frame every 6 ps; four groups on units of their own end the first after 17 ps and
    one every 5 ps then: both their twelfth at 72, the fourth at 24 and at 32."""
    alone, spread = (
        [6, -1, -1, -1, -1],
        [[-1] * (u + 1) + [t] + [-1] * (3 - u) for u, t in ((0, 5), (1, 5), (2, 5), (3, 2))],
    )
    first = problem(
        [network("a", 0, 1), network("b", 1, 4)],
        [alone, *spread],
        edges={(1, 2): 0, (2, 3): 0, (3, 4): 0},
    )
    second = problem(
        [network("b", 0, 4), network("a", 4, 1)],
        [*spread, alone],
        edges={(0, 1): 0, (1, 2): 0, (2, 3): 0},
    )
    assert one(freely(first, 4), design([0, 1, 2, 3, 4])) == (48, [8, 10], 0)
    assert one(freely(second, 4), design([1, 2, 3, 4, 0])) == (40, [8, 7], 0)


def test_networks_that_share_a_unit_take_turns() -> None:
    case = problem([network("a", 0, 1), network("b", 1, 1)], [[5], [2]])
    for in_flight in (1, 2):
        assert one(freely(case, in_flight), design([0, 0]))[:2] == (56, [8, 8])


def test_contention_slows_the_window() -> None:
    """Half the rate while both run, which is always."""
    case = problem(
        [network("a", 0, 1), network("b", 1, 1)],
        [[7, -1], [-1, 7]],
        demands_kbps=[100, 100],
        contention=flat_loss("50"),
    )
    assert one(freely(case, 1), design([0, 1]))[:2] == (8 * 14, [8, 8])


@pytest.mark.parametrize("seed", range(30))
def test_one_network_alone_is_a_pipeline(seed: int) -> None:
    """With one frame in flight. With several, the last frames of a pipeline have the chip for
    themselves, while a stream goes on."""
    rng = np.random.default_rng(40_000 + seed)
    case = random_problem(rng, RandomShape(networks=(1, 1), ties=seed % 2 == 0))
    case = freely(case, 1)
    rows = np.stack([row_of(random_design(rng, case)) for _ in range(3)])
    together = make_pipeline_evaluator(case)(rows)
    runs = make_free_run_evaluator(case)(rows)
    assert runs.window_ps.tolist() == together.window_ps.tolist()
    assert runs.frame_time_ps.tolist() == together.window_ps.tolist()
    assert runs.inferences.tolist() == [[8]] * 3


def test_energy_beyond_63_bits_is_exact() -> None:
    """A network that takes 10^5 times as long as the other, at 10 MW: 1.1e19 fJ in the window."""
    slow, fast = 10**11, 10**6
    case = problem([network("slow", 0, 1), network("fast", 1, 1)], [[slow, -1], [-1, fast]])
    powers = (np.array([[10**7], [0]]), np.array([[0], [4 * 10**6]]))
    units = tuple(
        replace(unit, dynamic_mw=power.astype(np.int64))
        for unit, power in zip(case.units, powers, strict=True)
    )
    case = freely(replace(case, units=units), 1)
    (values,) = make_outcomes(case)(row_of(design([0, 1]))[None]).objectives.tolist()
    whole, count = 8 * slow * (10**7 + 4 * 10**6), 8 + 8 * slow // fast
    assert whole > 2**63
    assert values == [
        (2 * 8 * 2 * 8 * slow + count) // (2 * count),
        1000 * whole // (8 * slow),
        whole // count,
        whole // count,
    ]


def test_rows_do_not_disturb_one_another() -> None:
    rng = np.random.default_rng(7)
    case = random_problem(rng, RandomShape(networks=(3, 3), units=(3, 3), unsupported=0.15))
    case = freely(case, 2)
    units = rng.integers(0, 3, (60, case.group_count))
    counts = [len(domain.frequencies_khz) for domain in case.domains]
    points = np.stack([rng.integers(0, count, 60) for count in counts], axis=1)
    rows = np.concatenate([units, points], axis=1)
    together = make_free_run_evaluator(case, jobs=2)(rows)
    allowed = case.allowed[np.arange(case.group_count), units].all(axis=1)
    assert 3 < allowed.sum() < 57
    assert together.possible.tolist() == allowed.tolist()
    for index in np.flatnonzero(allowed)[::3]:
        alone = make_free_run_evaluator(case)(rows[index : index + 1])
        assert alone.window_ps[0] == together.window_ps[index]
        assert alone.inferences[0].tolist() == together.inferences[index].tolist()
        assert alone.energies()[0] == together.energies()[index]
