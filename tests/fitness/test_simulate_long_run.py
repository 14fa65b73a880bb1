"""Rates, energy and what is shown in the long run: compiled evaluators against the plain one, and
cases that can be reckoned by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.accuracy.long_run import errors_of
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_dispatch,
    with_priorities,
)
from paretosoc.fitness.check.members.frames import Simulation
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.check.members.windows import PlainLongRun, simulate_long_run
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate_long_run import (
    LongRuns,
    ceil_ratio,
    free_run_of,
    make_long_run_evaluator,
    simulate_shown,
)
from paretosoc.fitness.simulator.chains.chain_tables import are_chains
from paretosoc.results.front.front import FreeRun
from paretosoc.results.problem.execution import FreeRunning, Pipeline, frames_in_flight
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import rate_uhz, time_per_image_ps
from tests.support.features import compare_all
from tests.support.problems.small_problems import design, flat_loss, network, problem
from tests.support.sample import SAMPLE

KINDS = (
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.POWER,
    ObjectiveKind.EFFICIENCY,
    ObjectiveKind.ENERGY,
)
CHUNKS, PIPELINES, FREE = SAMPLE, 250, 40
MIN_OF_CHUNK = {
    **{f"{count} networks": 25 for count in (1, 2, 3, 4)},
    **{f"{count} in flight": 20 for count in range(1, 9)},
    "graph": 35,
    "copy": 25,
    "repeats": 25,
    "waits for another": 50,
    "arrives late": 50,
    "contention": 70,
    "recurs": 220,
    "window shown": 120,
}
MIN_OF_FREE_CHUNK = {
    **{f"{count} networks": 4 for count in (1, 2, 3, 4)},
    **{f"{count} in flight": 3 for count in range(1, 6)},
    "graph": 6,
    "copy": 3,
    "repeats": 6,
    "contention": 14,
    "other rates": 20,
    "cut in the window": 10,
    "window shown": 3,
    "a least rate is missed": 1,
    "all least rates are kept": 3,
}


def piped(of: Problem, in_flight: int) -> Problem:
    return replace(
        of,
        objectives=tuple(Objective(kind) for kind in KINDS),
        execution=Pipeline(in_flight),
    )


def freely(of: Problem, in_flight: int) -> Problem:
    return replace(
        piped(of, in_flight),
        networks=tuple(replace(entry, waits_for=(), arrival_ps=0) for entry in of.networks),
        handovers=(),
        handover_ps=None,
        objectives=(*(Objective(kind) for kind in KINDS), Objective(ObjectiveKind.FAIRNESS)),
        execution=FreeRunning(in_flight),
    )


def one(of: Problem, point: DesignPoint) -> LongRuns:
    runs = make_long_run_evaluator(of)(point.row[None])
    assert runs.possible.tolist() == [True]
    return runs


def periods(of: Problem, point: DesignPoint) -> list[int]:
    found: list[int] = one(of, point).stream_period_ps[0].tolist()
    return found


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_pipelines_compiled_equal_plain(chunk: int) -> None:
    seeds = range(chunk * PIPELINES, (chunk + 1) * PIPELINES)
    compare_all(compare_pipeline, seeds, MIN_OF_CHUNK)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_free_runs_compiled_equal_plain(chunk: int) -> None:
    seeds = range(chunk * FREE, (chunk + 1) * FREE)
    compare_all(compare_free_run, seeds, MIN_OF_FREE_CHUNK)


def compare_pipeline(seed: int) -> set[str]:
    case, point, rng = drawn(seed)
    if seed % 11 < 6:
        case = with_priorities(np.random.default_rng([seed, 1]), case)
        point = random_design(rng, case)
    return compare(piped(case, seed % 8 + 1), point, seed)


def compare_free_run(seed: int) -> set[str]:
    case, point, rng = drawn(seed)
    return compare(freely(case, int(rng.integers(1, 6))), point, seed)


def drawn(seed: int) -> tuple[Problem, DesignPoint, np.random.Generator]:
    rng = np.random.default_rng(seed)
    shape = RandomShape(
        groups=(1, 4),
        ties=seed % 2 == 0,
        contention=seed % 8 not in (0, 1, 4),
        copies=True,
        phases=seed % 3 == 1,
    )
    case = with_dispatch(np.random.default_rng([seed, 3]), random_problem(rng, shape))
    return case, random_design(rng, case), rng


def compare(case: Problem, point: DesignPoint, seed: int) -> set[str]:
    """Asserts that both agree; returns the features that the problem shows."""
    most = 1 + seed % 40 if seed % 3 == 0 else 1000
    plain = simulate_long_run(case, point, most=most)
    runs = one(case, point)
    assert runs.window_ps.tolist() == [plain.window_ps[1] - plain.window_ps[0]], f"seed {seed}"
    assert runs.stream_period_ps.tolist() == [list(plain.periods_ps)], f"seed {seed}"
    assert runs.stream_period_ps.tolist() == [list(plain.periods_ps)], f"seed {seed}"
    assert runs.dynamic_energies() == [list(plain.dynamic_fj)], f"seed {seed}"
    limits = compare_outcomes(case, point, plain, seed) if seed % 4 == 0 else set()
    shown = simulate_shown(case, point, most=most)
    assert shown == (plain.schedule, plain.window_ps, plain.shown_ps), f"seed {seed}"
    assert len(plain.schedule.groups) < most + 2 * len(case.queue_units)
    return features(case, plain) | limits


def compare_outcomes(case: Problem, point: DesignPoint, plain: PlainLongRun, seed: int) -> set[str]:
    """Objectives and, of networks that run freely, least rates: about half of them must have just
    the rate that they have, some of these one uHz more."""
    rng = np.random.default_rng(seed)
    if not case.execution.has_frame:
        rates = [
            images * rate_uhz(period) + int(rng.integers(4) == 0)
            for images, period in zip(case.images, plain.periods_ps, strict=True)
        ]
        networks = tuple(
            replace(entry, min_rate_uhz=rate) if rng.integers(2) else entry
            for entry, rate in zip(case.networks, rates, strict=True)
        )
        case = replace(case, networks=networks)
    outcomes = make_outcomes(case)(point.row[None])
    told = plain_outcome(case, point)
    assert tuple(outcomes.objectives[0].tolist()) == told.objectives, f"seed {seed}"
    limited = [entry.index for entry in constraints_of(case) if entry.is_least]
    assert limited == [n for n, entry in enumerate(case.networks) if entry.min_rate_uhz]
    figures = [-case.images[n] * rate_uhz(plain.periods_ps[n]) for n in limited]
    least = [entry.is_least for entry in constraints_of(case)]
    assert outcomes.constraint_values[0, least].tolist() == figures, f"seed {seed}"
    missed = [text for text in told.broken if text.why.startswith("rate of ")]
    assert bool(outcomes.feasible[0]) == (not told.broken)
    found = {"a least rate is missed"} if missed else {"all least rates are kept"}
    return found if limited else set()


def features(case: Problem, plain: PlainLongRun) -> set[str]:
    targets = Counter(target for _, target in case.edges)
    begin, end = plain.window_ps
    return {
        f"{len(case.networks)} networks",
        f"{frames_in_flight(case.execution)} in flight",
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
                "waits for another": any(entry.waits_for for entry in case.networks),
                "arrives late": any(entry.arrival_ps for entry in case.networks),
                "contention": any(unit.contention for unit in case.units),
                "recurs": plain.recurs,
                "other rates": len(set(plain.periods_ps)) > 1,
                "window shown": plain.shown_ps == end,
                "cut in the window": begin < plain.shown_ps < end,
            }.items()
            if holds
        ),
    }


@pytest.mark.parametrize("in_flight", range(1, 9))
def test_rates_times_loads_are_at_most_1(in_flight: int) -> None:
    """On every unit, over all streams, in whole numbers: of pipelines and free-running networks."""
    tight = 0
    for seed in range(60):
        rng = np.random.default_rng(80_000 + seed)
        shape = RandomShape(groups=(1, 5), ties=seed % 2 == 0, contention=seed % 3 > 0)
        drawn = random_problem(rng, shape)
        rows = np.stack([random_design(rng, drawn).row for _ in range(3)])
        for case in (piped(drawn, in_flight), freely(drawn, in_flight)):
            runs = make_long_run_evaluator(case)(rows)
            for row, found in zip(rows, runs.stream_period_ps.tolist(), strict=True):
                shares = [
                    sum(Fraction(load, period) for load, period in zip(loads, found, strict=True))
                    for loads in loads_of(case, row)
                ]
                assert max(shares) <= 1, (seed, case.execution)
                tight += max(shares) > Fraction(999, 1000)
    assert tight > 100


def loads_of(case: Problem, row: np.ndarray) -> list[list[int]]:
    """[units][streams]: stand-alone time of a frame."""
    alone = not case.execution.has_frame
    loads = [[0] * (len(case.networks) if alone else 1) for _ in case.units]
    for n, entry in enumerate(case.networks):
        for group in entry.groups:
            unit = case.units[row[group]]
            at = (group, *(row[case.group_count + clock] for clock in unit.clocks))
            loads[row[group]][n if alone else 0] += entry.repeats * int(unit.time_ps[at])
    return loads


@pytest.mark.parametrize("seed", range(40))
def test_what_is_shown_of_a_pipeline_holds_what_is_claimed(seed: int) -> None:
    """The period and the energy once more, from the schedule alone."""
    rng = np.random.default_rng(90_000 + seed)
    drawn = random_problem(rng, RandomShape(groups=(1, 4), contention=True, copies=True))
    case = piped(drawn, int(rng.integers(1, 4)))
    point = random_design(rng, case)
    schedule, (begin, end), until = simulate_shown(case, point, most=10**5)
    assert until == end
    last: dict[int, int] = {}
    energy = [0] * len(case.units)
    for row in schedule.groups:
        if row.end_ps <= end:
            last[row.frame] = max(last.get(row.frame, 0), row.end_ps)
        unit = case.units[row.unit]
        at = (row.group, *(int(point.operating_points[clock]) for clock in unit.clocks))
        inside = max(min(row.end_ps, end) - max(row.start_ps, begin), 0)
        energy[row.unit] += int(unit.dynamic_mw[at]) * inside
    whole = sum(entry.repeats * len(entry.groups) for entry in case.networks)
    count = Counter(row.frame for row in schedule.groups if row.end_ps <= end)
    frames = sum(begin < last[k] <= end for k, there in count.items() if there == whole)
    runs = one(case, point)
    (period,) = runs.frame_period_ps.tolist()
    # Where no state recurs, the work of frames counts in part.
    recurs = simulate_long_run(case, point).recurs
    assert period == pytest.approx((end - begin) / frames, rel=1e-9 if recurs else 1e-3)
    assert runs.dynamic_energies() == [energy]


def assert_equal_runs(got: LongRuns, wanted: LongRuns) -> None:
    for name, values in vars(wanted).items():
        if name != "images":
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
    """7 ps on one unit, 3 ps on the other: both are busy all the time."""
    case = problem([network("slow", 0, 1), network("fast", 1, 1)], [[7, -1], [-1, 3]])
    case = freely(case, 1)
    point = design([0, 1])
    runs = one(case, point)
    assert runs.stream_period_ps.tolist() == [[7, 3]]
    assert runs.rate_uhz.tolist() == [[10**18 // 7, 10**18 // 3]]
    # 10 executions in 21 ps. The window begins with a round of the slow one when 768 have ended,
    # and ends with one when 3,072 have.
    begin, end = (next(t for t in range(7, 7000, 7) if t // 7 + t // 3 >= n) for n in (768, 3072))
    plain = simulate_long_run(case, point)
    assert plain.window_ps == (begin, end)
    run = free_run_of(case, point, runs.stream_period_ps[0])
    # 1000 executions have ended at 2100 ps.
    assert run == FreeRun((begin, end), (7, 3), 2100)
    assert run == plain.free_run
    rows = schedule_of(case, point).groups
    shown = [(row.network, row.frame, row.start_ps, row.end_ps) for row in rows]
    slow = [(0, k, 7 * k - 7, 7 * k) for k in range(1, 301)]
    fast = [(1, k, 3 * k - 3, 3 * k) for k in range(1, 701)]
    assert sorted(shown) == slow + fast
    # Five have ended at 9 ps: what starts before then, of the slow one until 14 ps.
    schedule, _, until = simulate_shown(case, point, most=4)
    assert until == 9
    assert sorted((row.network, row.end_ps) for row in schedule.groups) == [
        *((0, 7), (0, 14)),
        *((1, 3), (1, 6), (1, 9)),
    ]
    # A frame every 7 and every 3 ps: in the mean one every 2 / (1/7 + 1/3) = 4.2 ps, rounded up;
    # and each as often as alone.
    (values,) = make_outcomes(case)(point.row[None]).objectives.tolist()
    assert (values[0], values[-1]) == (5, -(10**6))


def test_energy_is_mean_power_over_the_rate() -> None:
    """23 mW all the time, and 4.2 ps for an inference, rounded up."""
    case = problem([network("slow", 0, 1), network("fast", 1, 1)], [[7, -1], [-1, 3]])
    powers = (np.array([[5], [0]]), np.array([[0], [11]]))
    units = tuple(
        replace(unit, dynamic_mw=power.astype(np.int64), idle_mw=np.array([2], dtype=np.int64))
        for unit, power in zip(case.units, powers, strict=True)
    )
    case = freely(replace(case, units=units, board_mw=3), 1)
    point = design([0, 1])
    runs = one(case, point)
    window = int(runs.window_ps[0])
    assert runs.dynamic_energies() == [[window * 5, window * 11]]
    (values,) = make_outcomes(case)(point.row[None]).objectives.tolist()
    assert values == [5, 23_000, 23 * 5 // 2, 23 * 5 // 2, -(10**6)]
    assert plain_outcome(case, point).objectives == tuple(values)


def test_contention_slows_the_rates() -> None:
    """Half the rate while both run, which is always: the stand-alone time that is executed counts,
    not the time that passes."""
    case = problem(
        [network("slow", 0, 1), network("fast", 1, 1)],
        [[700, -1], [-1, 300]],
        demands_kbps=[100, 100],
        contention=flat_loss("50"),
    )
    case = freely(case, 1)
    assert periods(case, design([0, 1])) == [1400, 600]


def test_a_frame_ends_with_its_last_repeat() -> None:
    case = problem([network("slow", 0, 1), network("fast", 1, 1, repeats=2)], [[7, -1], [-1, 3]])
    assert periods(freely(case, 1), design([0, 1])) == [7, 6]


@pytest.mark.parametrize("in_flight", range(1, 9))
def test_networks_that_share_a_unit_take_turns(in_flight: int) -> None:
    case = problem([network("a", 0, 1), network("b", 1, 1)], [[5], [2]])
    assert periods(freely(case, in_flight), design([0, 0])) == [7, 7]
    assert periods(piped(case, in_flight), design([0, 0])) == [7]


def test_least_rates_and_the_smallest_relative_rate_by_hand() -> None:
    """In turn on one unit: a frame of each takes 10 ps, alone they would take 8 and 2."""
    case = freely(problem([network("slow", 0, 1), network("fast", 1, 1)], [[8], [2]]), 1)
    point = design([0, 0])

    def with_rates(*rates: int | None) -> Problem:
        pairs = zip(case.networks, rates, strict=True)
        networks = tuple(replace(entry, min_rate_uhz=rate) for entry, rate in pairs)
        return replace(case, networks=networks)

    assert periods(case, point) == [10, 10]
    (values,) = make_outcomes(case)(point.row[None]).objectives.tolist()
    assert values[-1] == -200_000
    for rates, kept in (
        ((10**17, 10**17), True),
        ((None, 10**17 + 1), False),
        ((10**17 + 1, None), False),
    ):
        assert make_outcomes(with_rates(*rates))(point.row[None]).feasible.tolist() == [kept]
    (broken,) = plain_outcome(with_rates(None, 10**17 + 1), point).broken
    assert broken.why == (
        "rate of fast is 100000000000000000 uHz, at least 100000000000000001 asked for"
    )


@pytest.mark.parametrize("in_flight", range(1, 9))
def test_a_pipeline_is_never_faster_than_its_largest_load(in_flight: int) -> None:
    """100 and 60 ps on two units, in a chain: alone 160 ps, else 100."""
    case = problem([network("a", 0, 2)], [[100, 1], [1, 60]], edges={(0, 1): 0})
    runs = one(piped(case, in_flight), design([0, 1]))
    assert runs.frame_period_ps.tolist() == [160 if in_flight == 1 else 100]
    assert runs.load_ps.tolist() == [[[100, 60]]]


def test_a_state_that_recurs_after_several_frames() -> None:
    """Two frames in flight, a way of 240 ps round: they end 100 and 140 ps apart in turn."""
    case = problem([network("a", 0, 2)], [[100, 1], [1, 60]], edges={(0, 1): 80})
    plain = simulate_long_run(piped(case, 2), design([0, 1]))
    assert plain.recurs
    assert plain.window_ps == (340, 580)
    assert plain.periods_ps == (120,)


@pytest.mark.parametrize("seed", range(30))
def test_one_network_that_runs_freely_is_a_pipeline(seed: int) -> None:
    rng = np.random.default_rng(40_000 + seed)
    case = random_problem(rng, RandomShape(networks=(1, 1), ties=seed % 2 == 0))
    case = freely(case, seed % 8 + 1)
    rows = np.stack([random_design(rng, case).row for _ in range(3)])
    pipeline = make_long_run_evaluator(replace(case, execution=Pipeline(seed % 8 + 1)))(rows)
    assert_equal_runs(make_long_run_evaluator(case)(rows), pipeline)


def test_the_time_per_image_belongs_to_the_mean_rate() -> None:
    assert time_per_image_ps((1,), [120]) == 120
    assert time_per_image_ps((1, 1), [7, 3]) == 5
    assert time_per_image_ps((1, 1, 1), [2, 2, 2]) == 2
    # 2 / (1 / (2^63 - 1) + 1) is a little less than 2.
    assert time_per_image_ps((1, 1), [2**63 - 1, 1]) == 2
    # Batches of 8 and 2 in periods of 40 and 20: 0.3 images in the time 1, of two networks.
    assert time_per_image_ps((8, 2), [40, 20]) == 7
    # A frame of all in 40: 10 images.
    assert time_per_image_ps((8, 2), [40]) == 8
    assert rate_uhz(5_200_000_000) == 192_307_692


def test_ratios_of_products_beyond_63_bits_are_exact() -> None:
    """Small and large quotients, products just below and above a multiple of the divisor."""
    rng = np.random.default_rng(3)
    bits = rng.integers(1, 60, (3, 4000))
    load, window, done = rng.integers(1 << (bits - 1), 1 << bits)
    done[:2000] = np.maximum(load[:2000] + rng.integers(-2, 3, 2000), 1)
    wanted = [
        min(-(-a * b // c), 2**63 - 1)
        for a, b, c in zip(load.tolist(), window.tolist(), done.tolist(), strict=True)
    ]
    assert sum(value < 2**50 for value in wanted) > 2000
    assert sum(value > 2**50 for value in wanted) > 200
    assert ceil_ratio(load, window, done).tolist() == wanted


def test_energy_beyond_63_bits_is_exact() -> None:
    """A network that takes 10^5 times as long as the other, at 10 MW: 9.8e18 fJ in seven of its
    frames."""
    slow, fast = 10**11, 10**6
    case = problem([network("slow", 0, 1), network("fast", 1, 1)], [[slow, -1], [-1, fast]])
    powers = (np.array([[10**7], [0]]), np.array([[0], [4 * 10**6]]))
    units = tuple(
        replace(unit, dynamic_mw=power.astype(np.int64))
        for unit, power in zip(case.units, powers, strict=True)
    )
    case = freely(replace(case, units=units), 1)
    point = design([0, 1])
    runs = one(case, point)
    assert runs.window_ps.tolist() == [7 * slow]
    assert runs.dynamic_high.max() > 0
    assert sum(runs.dynamic_energies()[0]) == 7 * slow * 14 * 10**6 > 2**63
    (values,) = make_outcomes(case)(point.row[None]).objectives.tolist()
    period = -(-2 * slow * fast // (slow + fast))
    energy = 14 * 10**6 * period // 2
    # The last one is fairness: each network reaches its rate alone, 10**6 ppm.
    assert values == [period, 14 * 10**9, energy, energy, -(10**6)]


def test_rows_do_not_disturb_one_another() -> None:
    rng = np.random.default_rng(7)
    drawn = random_problem(rng, RandomShape(networks=(3, 3), units=(3, 3), unsupported=0.15))
    units = rng.integers(0, 3, (60, drawn.group_count))
    counts = [len(domain.frequencies_khz) for domain in drawn.domains]
    points = np.stack([rng.integers(0, count, 60) for count in counts], axis=1)
    rows = np.concatenate([units, points], axis=1)
    allowed = drawn.allowed[np.arange(drawn.group_count), units].all(axis=1)
    assert 3 < allowed.sum() < 57
    for case in (freely(drawn, 2), piped(drawn, 3)):
        together = make_long_run_evaluator(case, jobs=2)(rows)
        assert together.possible.tolist() == allowed.tolist()
        for index in np.flatnonzero(allowed)[::3]:
            alone = make_long_run_evaluator(case)(rows[index : index + 1])
            assert alone.window_ps[0] == together.window_ps[index]
            assert alone.executed_ps[0].tolist() == together.executed_ps[index].tolist()
            assert alone.energies()[0] == together.energies()[index]


@pytest.mark.parametrize("chunk", range(SAMPLE))
def test_pipelines_have_the_rate_of_the_state_that_recurs(chunk: int) -> None:
    """Of random ones with 1 to 8 frames in flight: 1 % in the median, 3 % at worst."""
    errors = [errors_of(seed, free_running=False) for seed in range(225 * chunk, 225 * chunk + 225)]
    found = [error[0] for error in errors if error is not None]
    assert len(found) > 220
    assert np.median(found) < 0.01
    assert max(found) < 0.03


@pytest.mark.parametrize("chunk", range(SAMPLE))
def test_free_running_networks_have_the_rates_of_the_state_that_recurs(chunk: int) -> None:
    """Of random mixes in which one does within 400 rounds, which most do within 2,000."""
    seeds = range(25 * chunk, 25 * chunk + 25)
    errors = [errors_of(seed, free_running=True, most=400) for seed in seeds]
    found = [error[0] for error in errors if error is not None]
    assert len(found) > 15
    assert np.median(found) < 0.01
    assert max(found) < 0.03


def test_the_plain_run_keeps_no_execution_that_is_not_shown() -> None:
    rng = np.random.default_rng(1)
    free = replace(
        random_problem(rng, RandomShape(networks=(2, 2), groups=(3, 3))),
        objectives=(Objective(ObjectiveKind.THROUGHPUT),),
        execution=FreeRunning(2),
    )
    simulation = Simulation(free, random_design(rng, free))
    simulation.shown_ps = 0
    for _ in range(200):
        simulation.advance()
        assert not simulation.runs
    assert simulation.executions > 500
