"""Schedules that improve: against enumeration, from several threads, and replayed."""

from __future__ import annotations

import csv
import itertools
import json
import threading
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretosoc.dse.certificate import improve as improving
from paretosoc.dse.certificate.improve import FinalSchedule, Published, improve, naive_schedule
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.anytime.record import replay_csv, replay_json
from paretosoc.dse.papers.anytime.replay import load_replay, simulate_replay
from paretosoc.dse.papers.anytime.scheduler import AnytimeScheduler
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import assert_inside, random_limited_problem, space_of

OPTIONS = Options(units=("gpu", "dla0"), groups=8, objectives=("latency",))
FIXED = replace(OPTIONS, fixed=tuple((name, "max") for name in ("cpu", "gpu", "dla", "emc")))
PLAN = """
platform: jetson-agx-xavier
units: [gpu, dla0]
groups: 8
change_every_s: 0.5
phases:
  - networks: [{network: vgg19}, {network: resnet152}]
  - name: a chain
    networks: [{network: squeezenet}, {network: resnet50, waits_for: [squeezenet]}]
"""


def steps_of(problem: Problem, **limits) -> tuple[list[Published], FinalSchedule]:
    start = naive_schedule(problem)
    *published, ended = improve(problem, start, **limits)
    return [*([] if start is None else [start]), *published], ended


@pytest.mark.parametrize("kind", [ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY])
def test_what_is_published_gets_better_and_ends_with_the_proved_best_of_all(kind):
    rng = np.random.default_rng(3)
    improved = 0
    for _ in range(25):
        problem = replace(random_limited_problem(rng), objectives=(Objective(kind),))
        published, ended = steps_of(problem)
        best = space_of(problem).best
        if best is None:
            assert (published, ended.best, ended.certificate) == ([], None, None)
            continue
        values = [step.value for step in published]
        assert all(a > b for a, b in itertools.pairwise(values))
        assert values[-1] == best
        improved += len(values) > 1
        assert ended.best is published[-1]
        assert ended.certificate is not None
        assert ended.certificate.status is CertificateStatus.CERTIFIED
        assert ended.certificate.optimum == ended.certificate.bound == best
        for step in published:
            outcome = plain_outcome(problem, step.design)
            assert outcome.broken == ()
            assert outcome.objectives == (step.value,)
            assert_inside(problem, step.design.row[None])
    assert improved > 5


def pair(*names: str) -> Problem:
    with AnytimeScheduler("jetson-agx-xavier", options=FIXED) as scheduler:
        return scheduler.prepare(workload_of(names))


def test_the_same_is_published_at_the_same_nodes_whatever_the_clock():
    problem = pair("vgg19", "resnet152")
    ticks = itertools.count(step=1000)
    first, _ = steps_of(problem)
    start = naive_schedule(problem)
    *second, _ = improve(problem, start, clock=lambda: float(next(ticks)))
    assert [(p.value, p.nodes) for p in first[1:]] == [(p.value, p.nodes) for p in second]
    assert len(first) > 2


def test_a_budget_leaves_a_gap_that_holds_the_optimum():
    problem = pair("vgg19", "resnet152")
    _, whole = steps_of(problem)
    assert whole.best is not None
    published, ended = steps_of(problem, max_nodes=600)
    certificate = ended.certificate
    assert certificate is not None
    assert certificate.status is CertificateStatus.GAP
    assert certificate.bound <= whole.best.value <= certificate.optimum == published[-1].value
    assert ended.nodes == 600
    assert ended.searched_s is None
    # A clock that leaps passes any limit at the first look.
    leaps = itertools.count(step=10)
    _, late = steps_of(problem, time_limit_s=5.0, clock=lambda: float(next(leaps)))
    assert late.nodes == improving.FIRST_SLICE


def test_schedules_without_a_fitting_objective_are_refused():
    problem = replace(pair("squeezenet"), objectives=(Objective(ObjectiveKind.ENERGY),))
    with pytest.raises(ResultError, match="need latency or inverse-latency"):
        naive_schedule(problem)


def test_the_scheduler_has_a_schedule_at_once_and_the_proof_in_the_end():
    log: list[Published] = []
    with AnytimeScheduler("jetson-agx-xavier", options=FIXED, on_publish=log.append) as scheduler:
        with pytest.raises(RuntimeError, match="no workload was submitted"):
            scheduler.best()
        scheduler.submit(workload_of(["vgg19", "resnet152"]))
        first = scheduler.best()
        assert first is not None
        ended = scheduler.wait(60)
        assert ended is not None
        best, proof = scheduler.best(), scheduler.certificate()
        assert best is not None
        assert proof is not None
        assert (proof.status, proof.optimum) == (CertificateStatus.CERTIFIED, best.value)
        assert [step.value for step in log] == sorted((s.value for s in log), reverse=True)
        assert log[0].source in ("GPU only", "GPU & DSA")
        assert log[-1] is best


def test_a_new_workload_ends_the_search_for_the_old_one():
    # All clocks free and no limit on transitions: far too much to search to the end.
    with AnytimeScheduler(
        "jetson-agx-xavier", options=replace(OPTIONS, groups=30), max_nodes=10**9
    ) as scheduler:
        scheduler.submit(workload_of(["vgg19", "resnet152"]))
        assert scheduler.certificate() is None
        assert scheduler.wait(0.01) is None
        small = workload_of(["squeezenet"])
        scheduler.submit(small)
        problem = scheduler.prepare(small)
        best = scheduler.best()
        assert best is not None
        assert len(best.design.units) == problem.group_count
        scheduler.submit(workload_of(["vgg19", "resnet152"]))
        scheduler.close()
        assert scheduler.best() is not None


def test_many_threads_may_ask_while_workloads_change():
    workloads = [workload_of(["squeezenet"]), workload_of(["squeezenet", "resnet50"])]
    sizes: set[int] = set()
    failures: list[BaseException] = []
    done = threading.Event()
    with AnytimeScheduler("jetson-agx-xavier", options=FIXED) as scheduler:
        groups = [scheduler.prepare(workload).group_count for workload in workloads]
        scheduler.submit(workloads[0])

        def ask() -> None:
            try:
                while not done.is_set():
                    best = scheduler.best()
                    assert best is not None
                    sizes.add(len(best.design.units))
                    scheduler.certificate()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(12):
            scheduler.submit(workloads[turn % 2])
        ended = scheduler.wait(60)
        done.set()
        for thread in threads:
            thread.join()
        assert not failures
        assert sizes <= set(groups)
        assert ended is not None
        assert ended.certificate is not None
        assert ended.certificate.status is CertificateStatus.CERTIFIED
        assert ended.best is scheduler.best()


def test_a_workload_that_cannot_be_used_changes_nothing():
    with AnytimeScheduler("jetson-agx-xavier", options=FIXED) as scheduler:
        scheduler.submit(workload_of(["squeezenet"]))
        scheduler.wait(60)
        before = scheduler.best()
        with pytest.raises(ValueError, match="no_such_net"):
            scheduler.submit(workload_of(["no_such_net"]))
        assert scheduler.best() is before


def test_a_search_that_fails_says_so(monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ResultError("out of order")

    monkeypatch.setattr(improving, "find_fastest", broken)
    with AnytimeScheduler("jetson-agx-xavier", options=FIXED) as scheduler:
        scheduler.submit(workload_of(["squeezenet"]))
        with pytest.raises(RuntimeError, match="the search has failed"):
            scheduler.wait(60)
        with pytest.raises(RuntimeError, match="the search has failed"):
            scheduler.best()


@pytest.fixture
def plan_file(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def test_a_replay_gives_the_same_on_any_machine(plan_file):
    """Also on one that is so slow that each look at the clock is ten seconds later."""
    slow = itertools.count(0.0, 10.0)
    first, second = (
        simulate_replay(load_replay(plan_file), nodes_per_second=10_000, clock=clock)
        for clock in (time.monotonic, lambda: next(slow))
    )
    assert replay_json(first) == replay_json(second)
    assert replay_csv(first) == replay_csv(second)
    assert len(first.phases[0].schedules) > 2


def test_frames_follow_each_other_by_the_schedule_in_use(plan_file):
    result = simulate_replay(load_replay(plan_file), nodes_per_second=10_000)
    assert [phase.name for phase in result.phases] == ["vgg19, resnet152", "a chain"]
    assert result.frames[0].start_ps == 0
    for frame, following in itertools.pairwise(result.frames):
        assert following.start_ps == frame.start_ps + frame.latency_ps
    for frame in result.frames:
        phase = result.phases[frame.phase]
        after = frame.start_ps / 1e12 - phase.begins_s
        assert 0 <= after < 0.5
        known = [s.latency_ps for s in phase.schedules if s.found_s <= after]
        assert frame.latency_ps == min(known, default=phase.baseline_ps)
    for index, phase in enumerate(result.phases):
        latencies = [frame.latency_ps for frame in result.frames if frame.phase == index]
        assert latencies[-1] == phase.oracle_ps == min(latencies)
        assert latencies[0] <= phase.baseline_ps
        assert phase.oracle_proved
        assert phase.status == "certified"


def test_schedules_may_be_taken_up_at_set_instants_only(plan_file):
    plan = replace(load_replay(plan_file), update_at_ms=(Fraction(100), Fraction(300)))
    result = simulate_replay(plan, nodes_per_second=10_000)
    for phase in result.phases:
        used = [s.used_s for s in phase.schedules if s.used_s is not None]
        assert used[0] == 0.0
        assert set(used[1:]) <= {0.1, 0.3}
        assert len(used) == len(set(used))
        for instant in set(used[1:]):
            (taken,) = [s for s in phase.schedules if s.used_s == instant]
            assert taken.latency_ps == min(
                s.latency_ps for s in phase.schedules if s.found_s <= instant
            )


def test_the_command_writes_figure_and_tables(dse, plan_file, tmp_path):
    folder = tmp_path / "out"
    shown = dse("papers", "replay", plan_file, "-o", folder, "--nodes-per-second", "10000")
    assert shown.status == 0
    assert "a chain" in shown.out
    names = {path.name for path in folder.iterdir()}
    assert names == {"replay.json", "replay.csv", "replay.svg", "replay.png"}
    document = json.loads((folder / "replay.json").read_text())
    with (folder / "replay.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert document["frames"] == len(rows) > 20
    assert document["clock"] == "10000 nodes/s"
    assert "exists already" in dse("papers", "replay", plan_file, "-o", folder).err
    (folder / "mine.txt").write_text("keep")
    refused = dse("papers", "replay", plan_file, "-o", folder, "--force")
    assert refused.status == 2
    assert "'mine.txt', which this command does not write" in refused.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("platform: jetson-agx-xavier", "", "must have platform"),
        ("change_every_s: 0.5", "change_every_s: 0", r"change_every_s"),
        ("waits_for: [squeezenet]", "waits_for: [other]", "must name a network or a task of"),
        ("{network: vgg19}", "{network: vgg19, speed: 2}", r"phases\[0\]"),
        ("groups: 8", "groups: [8", "must be YAML"),
    ],
)
def test_plans_that_cannot_be_used_are_refused_by_name(plan_file, old, new, message):
    text = plan_file.read_text()
    assert old in text
    plan_file.write_text(text.replace(old, new))
    with pytest.raises(WorkloadError, match=message):
        load_replay(plan_file)


def test_a_plan_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(WorkloadError, match="cannot be read"):
        load_replay(tmp_path / "none.yaml")
