"""Tang's closed form: by hand, compiled against plain, and what the two variants charge."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks.problems.contended_problems import random_rows
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_pipeline,
    random_problem,
)
from benchmarks.speed import analytic as benchmark
from paretosoc.fitness.check.members.closed_form import plain_loads
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.closed_form import make_load_evaluator
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime, OneFrame
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ChannelCosts, ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.problem_file import problem_from_bytes, problem_to_document

BETWEEN, ALL = ChannelUse.BETWEEN_UNITS, ChannelUse.ALL
SHAPE = RandomShape(networks=(1, 3), groups=(1, 8), units=(1, 5), points=(1, 4))


def two_cores(channels: ChannelUse, time: IdleTime = IdleTime.PERIOD) -> Problem:
    """Three actors a -> b -> c on two cores with a clock each; every figure is easy to add up."""
    one = np.ones(1, dtype=np.int64)

    def unit(name: str, clock: int, times: tuple[int, ...], power: int) -> ProblemUnit:
        column = np.array(times, dtype=np.int64).reshape(3, 1)
        return ProblemUnit(
            name=name,
            clocks=(clock,),
            time_ps=column,
            demand_kbps=np.zeros_like(column),
            dynamic_mw=np.full_like(column, power),
            idle_mw=5 * one,
            contention=None,
            channels=ChannelCosts(clock, 2000 * one, 3000 * one, 7 * one),
        )

    domains = tuple(
        ProblemDomain(
            name=name,
            frequencies_khz=(1000,),
            voltages_mv=(None,),
            may_be_off=True,
            static_mw=3 * one,
            allowed=np.ones(1, dtype=np.bool_),
        )
        for name in ("clock0", "clock1")
    )
    return Problem(
        networks=(ProblemNetwork("net", 0, group_names=("a", "b", "c")),),
        edges=((0, 1), (1, 2)),
        transition_ps=np.zeros((2, 2, 2), dtype=np.int64),
        domains=domains,
        units=(unit("core0", 0, (100, 200, 300), 10), unit("core1", 1, (50, 60, 70), 20)),
        memory_domain=None,
        board_mw=100,
        allowed=np.ones((3, 2), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
        execution=ClosedForm(channels, time),
        edge_tokens=np.array([10, 1], dtype=np.int64),
    )


def design(*units: int) -> DesignPoint:
    return DesignPoint(np.array(units, dtype=np.int64), np.zeros(2, dtype=np.int64))


@pytest.mark.parametrize(
    ("channels", "time", "loads", "idle_time", "energy"),
    [
        # a on core0 writes 10 tokens (20 ps), b on core1 reads them (30 ps); b -> c stays inside.
        (
            BETWEEN,
            IdleTime.PERIOD,
            (120, 160),
            160,
            160 * (100 + 6 + 10) + 100 * 10 + 20 * 7 + 130 * 20 + 30 * 7,
        ),
        (
            BETWEEN,
            IdleTime.SUM_OF_LOADS,
            (120, 160),
            280,
            280 * (100 + 6 + 10) + 100 * 10 + 20 * 7 + 130 * 20 + 30 * 7,
        ),
        # Eq. 7 as printed charges b -> c as well: 2 + 3 ps on core1.
        (
            ALL,
            IdleTime.PERIOD,
            (120, 165),
            165,
            165 * (100 + 6 + 10) + 100 * 10 + 20 * 7 + 130 * 20 + 35 * 7,
        ),
    ],
)
def test_by_hand(channels, time, loads, idle_time, energy):
    problem = two_cores(channels, time)
    result = plain_loads(problem, design(0, 1, 1))
    assert (result.load_ps, result.idle_time_ps, result.energy_fj) == (loads, idle_time, energy)
    assert result.period_ps == max(loads)
    outcome = plain_outcome(problem, design(0, 1, 1))
    assert outcome.objectives == (max(loads), energy)


def test_a_core_without_actors_draws_nothing():
    """Its clock is off; Tang's Eq. 8 would let it idle, ours (5) switches it off."""
    result = plain_loads(two_cores(BETWEEN), design(1, 1, 1))
    assert result.load_ps == (0, 180)
    assert result.energy_by_unit_fj[0] == 0
    assert result.energy_fj == 180 * (100 + 3 + 5) + 180 * 20


@pytest.mark.parametrize("channels", ChannelUse)
@pytest.mark.parametrize("time", list(IdleTime))
def test_compiled_is_plain(channels, time):
    """Equal to the last integer on random problems, possible or not."""
    possible = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        problem = random_pipeline(rng, random_problem(rng, SHAPE), channels, time)
        check_problem(problem)
        designs = [random_design(rng, problem) for _ in range(5)]
        rows = np.stack([entry.row for entry in designs])
        loads = make_load_evaluator(problem)(rows)
        outcomes = make_outcomes(problem)(rows)
        for index, entry in enumerate(designs):
            assert loads.possible[index]
            plain = plain_loads(problem, entry)
            assert (plain.period_ps, plain.idle_time_ps, plain.energy_fj) == (
                loads.period_ps[index],
                loads.idle_time_ps[index],
                loads.energy_fj[index],
            )
            assert plain_outcome(problem, entry).objectives == tuple(outcomes.objectives[index])
            possible += 1
        anywhere = rows.copy()
        groups = problem.group_count
        anywhere[:, :groups] = rng.integers(0, len(problem.units), (5, groups))
        found = make_load_evaluator(problem)(anywhere).possible
        expected = problem.allowed[np.arange(groups), anywhere[:, :groups]].all(axis=1)
        assert (found == expected).all()
    assert possible == 125


def test_threads_change_nothing():
    problem = benchmark.example(BETWEEN)
    rows = random_rows(problem, 1001)
    one, three = (make_load_evaluator(problem, jobs=jobs)(rows) for jobs in (1, 3))
    for name, values in asdict(one).items():
        assert (values == getattr(three, name)).all()


def test_other_objectives_still_play_the_timeline():
    rng = np.random.default_rng(4)
    timeline = random_problem(rng, SHAPE)
    kinds = (ObjectiveKind.LATENCY, ObjectiveKind.STRETCH, ObjectiveKind.THROUGHPUT)
    pipeline = replace(
        random_pipeline(rng, timeline, BETWEEN), objectives=tuple(map(Objective, kinds))
    )
    alone = replace(timeline, objectives=tuple(map(Objective, kinds[:2])))
    rows = random_rows(pipeline, 20)
    assert (
        make_outcomes(pipeline)(rows).objectives[:, :2] == make_outcomes(alone)(rows).objectives
    ).all()


def test_more_channels_never_help():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        few = random_pipeline(rng, random_problem(rng, SHAPE), BETWEEN)
        every = replace(few, execution=ClosedForm(ALL, IdleTime.PERIOD))
        rows = random_rows(few, 20)
        assert (
            make_load_evaluator(few)(rows).period_ps <= make_load_evaluator(every)(rows).period_ps
        ).all()


def test_limits_count_as_on_the_timeline():
    problem = two_cores(BETWEEN)
    limited = replace(
        problem, networks=(replace(problem.networks[0], max_transitions=0),), power_cap_mw=10**6
    )
    rows = np.array([[0, 1, 1, 0, 0], [1, 1, 1, 0, 0]], dtype=np.int64)
    outcomes = make_outcomes(limited)(rows)
    assert outcomes.feasible.tolist() == [False, True]
    assert outcomes.constraint_values[:, 0].tolist() == [1, 0]


def test_problem_file_round_trip():
    rng = np.random.default_rng(3)
    problem = random_pipeline(rng, random_problem(rng, SHAPE), ALL, IdleTime.SUM_OF_LOADS)
    document = problem_to_document(problem)
    data = canonical_bytes(document)
    again = problem_from_bytes(data)
    assert again.execution == ClosedForm(ALL, IdleTime.SUM_OF_LOADS)
    assert canonical_bytes(problem_to_document(again)) == data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"execution": OneFrame()},
            r"objectives\[0\]: throughput is an objective of .*closed-form.*; the model is frame",
        ),
        ({"edge_tokens": None}, r"\$\.edges\[\*\]\.tokens: must be given"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ResultError, match=message):
        check_problem(replace(two_cores(BETWEEN), **change))


def test_a_unit_without_channels_is_refused():
    problem = two_cores(BETWEEN)
    units = (problem.units[0], replace(problem.units[1], channels=None))
    with pytest.raises(ResultError, match=r"\$\.units\[1\]\.channels: must be given"):
        check_problem(replace(problem, units=units))


def test_a_channel_that_takes_too_long_is_refused():
    problem = two_cores(BETWEEN)
    tokens = np.array([1 << 58, 0], dtype=np.int64)
    with pytest.raises(ResultError, match=r"channels\.write_fs: one channel must take less"):
        check_problem(replace(problem, edge_tokens=tokens))


def test_the_timeline_has_no_loads():
    problem = random_problem(np.random.default_rng(0), SHAPE)
    with pytest.raises(ValueError, match="must be closed-form, got frame"):
        make_load_evaluator(problem)


def test_a_measurement():
    speed = benchmark.measure(BETWEEN, rows=50, plain_rows=20, repetitions=1)
    assert (speed.actors, speed.channels, speed.units) == (23, 24, 6)
    assert {column.key for column in benchmark.COLUMNS} == set(asdict(speed))
    assert speed.compiled_per_second > 0


def test_disagreement_is_an_error(monkeypatch):
    honest = benchmark.plain_analytic.plain_loads

    def wrong(problem, entry):
        return replace(honest(problem, entry), energy_fj=1)

    monkeypatch.setattr(benchmark.plain_analytic, "plain_loads", wrong)
    with pytest.raises(AssertionError, match="they disagree on design point 0"):
        benchmark.measure(BETWEEN, rows=5, plain_rows=1, repetitions=1)
