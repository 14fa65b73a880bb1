"""Plans of real executions, and what a unit does with them: held against the plain timeline."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
)
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch, Instance, make_execution_plan
from paretosoc.dse.tools.host.machine.host_units import HostUnit, make_units, unit_named
from paretosoc.dse.tools.host.machine.machine import Execution, patience_s
from paretosoc.dse.tools.host.machine.unit_loop import (
    FIRST,
    GO,
    STOP,
    WIDTH,
    Stopped,
    UnitPart,
    end_place,
    ready_time,
    run_unit,
    start_place,
)
from paretosoc.dse.tools.host.measure.execution_times import (
    frame_times,
    occupation,
    period_of,
    spread_of,
    undisturbed,
)
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.results.errors import ResultError

FRAMES, IN_FLIGHT = 4, 2


def planned(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, RandomShape(networks=(1, 3)))
    if seed % 3 == 2:
        problem = with_rates(rng, problem)
    design = random_design(rng, problem)
    plan = make_execution_plan(problem, design, frames=FRAMES, in_flight=IN_FLIGHT)
    return problem, design, plan


@pytest.mark.parametrize("seed", range(40))
def test_an_instance_waits_for_what_the_plain_timeline_waits_for(seed):
    problem, design, plan = planned(seed)
    rows = simulate(problem, design, frames=FRAMES, in_flight=IN_FLIGHT).schedule.groups
    keys = [(i.frame, i.network, i.repeat, i.group, i.unit) for i in plan.instances]
    assert keys == [(r.frame, r.network, r.repeat, r.group, r.unit) for r in rows]
    edges = {edge: k for k, edge in enumerate(problem.edges)}
    for instance, row in zip(plan.instances, rows, strict=True):
        instants = []
        for other in instance.after:
            source = plan.instances[other]
            edge = edges.get((source.group, instance.group))
            feeds = edge is not None and source.network == instance.network
            delay = problem.transition_ps[edge, source.unit, instance.unit] if feeds else 0
            instants.append(rows[other].end_ps + int(delay))
        if instance.arrival_ns is not None:
            release = max((rows[other].end_ps for other in instance.release_after), default=0)
            instants.append(release + problem.release_ps(instance.network, instance.repeat - 1))
            assert bool(instance.release_after) == (instance.frame > IN_FLIGHT)
        assert max(instants) == row.ready_ps
    for unit, order in enumerate(plan.order):
        assert sorted(order) == [i for i, key in enumerate(keys) if key[4] == unit]
        starts = [rows[i].start_ps for i in order]
        assert starts == sorted(starts)


def test_long_plans_are_waited_for():
    _, _, plan = planned(0)
    instances = [replace(plan.instances[0], start_ps=k * 10**12) for k in range(1000)]
    assert patience_s(replace(plan, instances=tuple(instances))) > 10 * 999
    assert patience_s(replace(plan, instances=())) >= 60


@pytest.mark.parametrize("dispatch", list(Dispatch))
@pytest.mark.parametrize("seed", range(6))
def test_units_keep_the_order_and_wait_for_their_data(seed, dispatch):
    problem, _, plan = planned(seed)
    board = [0] * (FIRST + WIDTH * len(plan.instances))
    ran = [[] for _ in problem.units]

    def unit(u):
        part = UnitPart(tuple((i, plan.instances[i]) for i in plan.order[u]), dispatch, IN_FLIGHT)

        def run(group, slot):
            time.sleep(0)
            ran[u].append((group, slot))

        run_unit(part, board, run, time.perf_counter_ns, time.thread_time_ns)

    # Arrivals of random problems would be waited for in earnest.
    plan = type(plan)(
        tuple(
            Instance(**{**vars(i), "arrival_ns": None if i.arrival_ns is None else 0})
            for i in plan.instances
        ),
        plan.order,
        plan.frames,
        plan.in_flight,
    )
    threads = [threading.Thread(target=unit, args=(u,)) for u in range(len(problem.units))]
    for thread in threads:
        thread.start()
    board[GO] = time.perf_counter_ns()
    for thread in threads:
        thread.join()
    for i, instance in enumerate(plan.instances):
        assert board[start_place(i)] <= board[end_place(i)]
        for other in (*instance.after, *instance.release_after):
            assert board[end_place(other)] <= board[start_place(i)]
    for u, order in enumerate(plan.order):
        expected = [
            (plan.instances[i].group, (plan.instances[i].frame - 1) % IN_FLIGHT) for i in order
        ]
        assert sorted(ran[u]) == sorted(expected)
        if dispatch is Dispatch.PLANNED:
            assert ran[u] == expected


def test_first_come_first_served_goes_by_ready_time_then_by_place():
    def source(unit):
        return Instance(1, 0, 1, 0, unit, (), (), 0)

    later, sooner, same = (
        Instance(1, 0, 1, g, 0, (after,), (), None) for g, after in ((1, 0), (2, 1), (3, 1))
    )
    board = [0] * (FIRST + WIDTH * 5)
    board[GO] = 1
    board[end_place(0)], board[end_place(1)] = 20, 10
    part = UnitPart(((2, later), (3, sooner), (4, same)), Dispatch.FIFO, 1)

    def order_of(part):
        ran, clock = [], iter(range(100, 10_000))
        run_unit(part, board, lambda g, s: ran.append(g), lambda: next(clock), lambda: 0)
        return ran

    assert order_of(part) == [2, 3, 1]
    urgent = replace(part, instances=((2, later), (3, replace(sooner, priority=1)), (4, same)))
    assert order_of(urgent) == [3, 1, 2]
    assert ready_time(source(0), board) == 1


@pytest.mark.parametrize("dispatch", list(Dispatch))
def test_a_unit_gives_up_when_another_one_has(dispatch):
    waits = Instance(1, 0, 1, 0, 0, (1,), (), None)
    board = [0] * (FIRST + WIDTH * 2)
    board[GO], board[STOP] = 1, 1
    with pytest.raises(Stopped):
        run_unit(UnitPart(((0, waits),), dispatch, 1), board, print, lambda: 2, lambda: 0)


def chain_execution():
    """Two groups on two units, three frames; unit 1 loses 7 ns in the second."""
    plan_instances = []
    for frame in range(3):
        release = (2 * frame - 1,) if frame else ()
        plan_instances += [
            Instance(frame + 1, 0, 1, 0, 0, (), release, 0),
            Instance(frame + 1, 0, 1, 1, 1, (2 * frame,), (), None),
        ]
    from paretosoc.dse.tools.host.machine.execution_plan import ExecutionPlan

    plan = ExecutionPlan(tuple(plan_instances), ((0, 2, 4), (1, 3, 5)), 3, 1)
    start = np.array([0, 12, 30, 42, 70, 82])
    end = np.array([10, 30, 40, 67, 80, 100])
    lost_start, lost_end = np.array([0, 0, 0, 0, 0, 7]), np.array([0, 0, 0, 7, 0, 7])
    return plan, Execution(start, end, lost_start, lost_end, {})


def test_what_an_execution_tells():
    plan, execution = chain_execution()
    found = occupation(plan, execution)
    assert found.ready.tolist() == [0, 10, 30, 40, 67, 80]
    assert found.busy.tolist() == [10, 20, 10, 20, 13, 20]
    assert found.lost.tolist() == [0, 0, 0, 7, 0, 0]
    times = frame_times(plan, execution, 1)
    assert times.makespan.tolist() == [30, 37, 33]
    assert times.latency.tolist() == [[30], [37], [33]]
    assert times.lost.tolist() == [0, 7, 0]


def test_the_period_is_the_median_over_windows():
    plan, execution = chain_execution()
    times = frame_times(plan, execution, 1)
    assert period_of(times, 1).median_ns == 35  # between 37 and 33
    assert period_of(times, 1, drained=1).median_ns == 37


def test_disturbed_samples_are_left_out_where_others_are_enough():
    values = np.array([10.0, 11, 12, 13, 14, 900])
    lost = np.array([0.0, 0, 0, 0, 0, 880])
    assert undisturbed(values, lost).tolist() == [True] * 5 + [False]
    assert spread_of(values[undisturbed(values, lost)]).median_ns == 12
    few = undisturbed(values, np.array([9.0, 0, 9, 9, 9, 880]))
    assert few.tolist() == [True] * 5 + [False]


def test_names_of_units():
    assert [unit.name for unit in make_units((0, 1, 2, 3, 4), 2)] == ["cpu0.1", "cpu2.3"]
    free = make_units_of_here()
    assert unit_named(free.name) == free
    with pytest.raises(ResultError, match="not one of this machine"):
        unit_named("gpu")
    with pytest.raises(ResultError, match="core 9999 is not there"):
        unit_named("cpu9999")
    with pytest.raises(ResultError, match="--threads must be from 1 to"):
        make_units((0, 1), 3)


def make_units_of_here():
    from paretosoc.dse.tools.host.machine.host_units import free_cores

    return HostUnit((free_cores()[0],))


def test_a_look_for_what_is_ready_takes_no_longer_for_many_frames():
    """Two networks, one of which waits until the last: each look sees a frame of both."""

    class Board(list):
        looks = 0

        def __getitem__(self, place):
            self.looks += 1
            return super().__getitem__(place)

    def looks(frames):
        instances = []
        for frame in range(1, frames + 1):
            after = (len(instances) - 2,) if frame > 1 else ()
            instances.append(Instance(frame, 0, 1, 0, 0, after, (), 0))
            instances.append(Instance(frame, 1, 1, 1, 0, (), (), 10**5))
        board = Board([0] * end_place(len(instances)))
        board[GO] = 1
        clock, ran = iter(range(1, 10**7)), []
        part = UnitPart(tuple(enumerate(instances)), Dispatch.FIFO, 1)
        run_unit(part, board, lambda g, s: ran.append(g), lambda: next(clock), lambda: 0)
        assert ran == [0] * frames + [1] * frames
        return board.looks

    assert looks(400) < 1.2 * looks(10)
