"""Schedules swapped while frames run: in every interleaving each step of each frame runs once,
after what it needs, and frames of one slot never overlap."""

import itertools
import random
from collections import deque
from dataclasses import replace

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.problem.build import cost_origins
from paretosoc.dse.tools.host.machine.frame_stream import (
    WAIT,
    ledger_of,
    lost_and_doubled,
    release_frames,
    run_shares,
    schedule_of,
)
from paretosoc.dse.tools.host.machine.host_units import (
    Host,
    HostUnit,
    free_cores,
    joules_since,
    read_counters,
)
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.sub_models import write_sub_models
from paretosoc.dse.tools.host.machine.unit_loop import FIRST
from paretosoc.dse.tools.host.measure.profiling import draft_problem
from paretosoc.dse.tools.host.measure.swapping import ImprovingSchedules
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.problem import DesignPoint
from tests.support.host_machines import tiny_model

SHAPE = RandomShape(
    networks=(1, 3), groups=(1, 5), units=(1, 3), points=(1, 1), graphs=True, waiting=True,
    unsupported=0.0,
)  # fmt: skip


def made_problem(rng, shape=SHAPE):
    """A random problem whose networks all arrive with their frame."""
    problem = random_problem(rng, shape)
    networks = tuple(replace(network, arrival_ps=0) for network in problem.networks)
    return replace(problem, networks=networks)


def designs_of(problem, rng, count):
    """Any mapping of groups to units that can run them."""
    points = np.zeros(len(problem.domains), dtype=np.int64)
    for _ in range(count):
        units = rng.integers(0, len(problem.units), problem.group_count)
        yield DesignPoint(units, points)


class Simulation:
    """Units and coordinator in one thread, a step of one of them at a time."""

    def __init__(self, problem, schedules, frames, slots, order):
        self.ledger = ledger_of(problem, slots)
        self.board = [0] * (FIRST + self.ledger.size)
        self.inboxes = [deque() for _ in problem.units]
        self.schedules, self.order, self.clock = schedules, order, 0
        self.log = []
        self.ended = False
        units = [
            run_shares(u, self.ledger, self.board, self.receiver(u), self.runner(u), self.now)
            for u in range(len(problem.units))
        ]
        self.records = None
        coordinator = release_frames(
            self.ledger, self.board, lambda u, share: self.inboxes[u].append(share),
            lambda: schedules[order.randrange(len(schedules))], lambda done: done < frames,
            self.now,
        )  # fmt: skip
        actors = [coordinator, *units]
        idle = 0
        while actors:
            actor = order.choice(actors)
            before = self.clock
            try:
                next(actor)
            except StopIteration as end:
                actors.remove(actor)
                if actor is coordinator:
                    self.records, self.ended = end.value, True
            idle = 0 if self.clock != before else idle + 1
            assert idle < 10_000, "nothing happens any more"

    def now(self):
        self.clock += 1
        return self.clock

    def receiver(self, unit):
        def receive():
            if self.inboxes[unit]:
                return self.inboxes[unit].popleft()
            return None if self.ended else WAIT

        return receive

    def runner(self, unit):
        def run(group, slot):
            self.log.append((unit, group, slot))

        return run


@settings(max_examples=60, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 40))
def test_each_step_of_each_frame_runs_once(seed, slots, frames):
    rng = np.random.default_rng(seed)
    problem = made_problem(rng)
    networks = range(len(problem.networks))
    schedules = []
    for version, design in enumerate(designs_of(problem, rng, 4)):
        # The workload changes, too: some networks only, sometimes none.
        active = [n for n in networks if rng.random() < 0.7]
        schedules.append(schedule_of(problem, design, version, active if version else None))
    done = Simulation(problem, schedules, frames, slots, random.Random(seed))
    assert [record.frame for record in done.records] == list(range(1, frames + 1))
    assert lost_and_doubled(done.records, done.ledger, done.board) == (0, 0)
    assert len(done.log) == sum(len(record.numbers) for record in done.records)
    by_version = {schedule.version: schedule for schedule in schedules}
    for record in done.records:
        steps = [step for unit in by_version[record.version].steps for step in unit]
        assert sorted(record.numbers) == sorted(step.number for step in steps)
        assert record.end_ns >= record.release_ns
    for frame, record in enumerate(done.records):
        # A slot is free before the next frame gets it.
        if frame + slots < len(done.records):
            assert record.end_ns < done.records[frame + slots].release_ns or not record.numbers


def test_a_lost_and_a_doubled_step_are_counted():
    rng = np.random.default_rng(1)
    problem = made_problem(rng)
    (design,) = designs_of(problem, rng, 1)
    done = Simulation(problem, [schedule_of(problem, design, 0)], 5, 2, random.Random(1))
    place = next(
        place
        for u in range(len(problem.units))
        if done.board[place := done.ledger.count_place(u, 0)]
    )
    done.board[place] -= 2
    assert lost_and_doubled(done.records, done.ledger, done.board) == (2, 0)
    done.board[place] += 5
    assert lost_and_doubled(done.records, done.ledger, done.board) == (0, 3)


def test_steps_wait_for_what_they_need():
    """The log of groups keeps the order of a chain, whoever runs it."""
    rng = np.random.default_rng(5)
    shape = RandomShape(
        networks=(1, 1), groups=(5, 5), units=(3, 3), points=(1, 1), graphs=False, waiting=False,
        unsupported=0.0,
    )  # fmt: skip
    problem = made_problem(rng, shape)
    schedules = [
        schedule_of(problem, design, k) for k, design in enumerate(designs_of(problem, rng, 5))
    ]
    done = Simulation(problem, schedules, 30, 3, random.Random(2))
    for slot in range(3):
        groups = [group for _, group, at in done.log if at == slot]
        assert groups == [*range(5)] * (len(groups) // 5)
        assert len(groups) == 50


def test_processes_swap_schedules_while_the_workload_changes(tmp_path):
    """Real processes: a clock that counts frames changes the workload every 15 of 120."""
    names = {"full": tiny_model(4, name="full"), "bare": tiny_model(3, name="bare", weights=False)}
    for name, model in names.items():
        onnx.save(model, str(tmp_path / f"{name}.onnx"))
    networks = [str(tmp_path / f"{name}.onnx") for name in names]
    cores = free_cores()
    units = HostUnit((cores[0],)), HostUnit((cores[-1],))
    host = Host("a processor", 2000.0, energy_readable=False)
    built = draft_problem(workload_from(networks), units, host, Options(objectives=("latency",)))
    problem = built.problem
    parts = write_sub_models(problem, cost_origins(built), tmp_path / "parts")
    clock = itertools.count()
    ledger = ledger_of(problem, 3)
    workloads = [(0, 1), (0,), (1,)]
    with (
        HostMachine(units, parts, slots=3) as machine,
        ImprovingSchedules(problem, workloads, 15, clock=lambda: next(clock)) as improving,
    ):

        def current():
            # Late searches are waited for, so that some of each workload's frames have theirs.
            schedule = improving.current()
            if improving.changes % 2 and improving.thread is not None:
                improving.thread.join()
            return schedule

        records, lost, doubled = machine.stream_frames(ledger, current, lambda done: done < 120)
        assert (lost, doubled) == (0, 0)
        assert len(records) == 120
        assert improving.changes >= 5
        assert improving.published >= 2
        assert len({record.version for record in records}) > improving.changes
        sizes = {len(record.numbers) for record in records}
        assert sizes == {4, 3, 7}
        assert np.abs(machine.tensor(0, names["full"].graph.output[0].name)).max() > 0
        machine._processes[1].kill()
        with pytest.raises(ResultError, match="its process ended"):
            machine.stream_frames(ledger, improving.current, lambda done: done < 10_000)


def test_energy_of_packages(tmp_path):
    def put(name, value, largest=1000):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "energy_uj").write_text(f"{value}\n")
        (folder / "max_energy_range_uj").write_text(f"{largest}\n")

    assert joules_since(read_counters(tmp_path), tmp_path) is None
    put("intel-rapl:0", 900)
    put("intel-rapl:0:0", 5)
    put("intel-rapl:1", 10)
    before = read_counters(tmp_path)
    assert {folder.name for folder in before} == {"intel-rapl:0", "intel-rapl:1"}
    put("intel-rapl:0", 100)
    put("intel-rapl:1", 60)
    assert joules_since(before, tmp_path) == (200 + 50) / 1e6
    (tmp_path / "intel-rapl:1" / "energy_uj").write_text("none")
    assert joules_since(before, tmp_path) is None
