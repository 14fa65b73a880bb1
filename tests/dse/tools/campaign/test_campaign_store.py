"""The store survives: killed processes, a full disk, several at once, changed inputs."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

import paretosoc.common.files
from paretosoc.dse.tools.campaign.execute.runner import do_missing
from paretosoc.dse.tools.campaign.execute.workers import LocalWorkers, SameProcess
from paretosoc.dse.tools.campaign.plan.plan import make_plan
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of
from paretosoc.dse.tools.campaign.store.liveness_lock import Owner, forget_dead
from paretosoc.dse.tools.campaign.store.pack import compress
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.results.errors import ResultError
from tests.support.campaigns.campaign_runs import DeadlyRun, bad_run, fake_run, rules, small_plan

ROOT = Path(__file__).parents[4]
SUPPORT = ROOT / "tests" / "support" / "campaigns"


def planned(folder, plan, program="test"):
    store = Store(folder, create=True)
    store.set_plan(plan.runs, inputs_of(plan, program), plan.title)
    return store


def done(folder):
    with Store(folder) as store:
        return {run.name: run for run in store.records(RunStatus.FINISHED)}


def environment():
    path = os.pathsep.join((str(ROOT), str(SUPPORT)))
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture
def quick_folder(tmp_path):
    """In memory where that is possible: a kill does not care for the disk, but a sync takes a while
    on some."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def test_a_hundred_kills_at_random_moments_lose_nothing(quick_folder):
    folder = str(quick_folder / "c")
    command = [sys.executable, str(SUPPORT / "campaign_to_kill.py"), folder, "104", "1"]
    ended = subprocess.run(
        [*command, "100"], env=environment(), capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    told = json.loads(ended.stdout)
    assert told["kills"] >= 100
    # The kills came in the middle: again and again some runs more were finished.
    assert len(set(told["seen"])) >= 10


def test_what_is_finished_is_not_done_again(tmp_path):
    plan = small_plan(10)
    calls = []

    def pluralize(task):
        calls.append(task.hash)
        return fake_run(task)

    with planned(tmp_path / "c", plan) as store:
        do_missing(store, SameProcess(pluralize))
    with planned(tmp_path / "c", small_plan(12)) as store:
        do_missing(store, SameProcess(pluralize))
    assert len(calls) == len(set(calls)) == 12


def test_changed_inputs_run_anew(tmp_path):
    plan = small_plan(3)
    with planned(tmp_path / "c", plan) as store:
        do_missing(store, SameProcess(fake_run))
        before = {run.hash for run in store.records()}
    with planned(tmp_path / "c", plan, program="another") as store:
        assert store.counts()[RunStatus.WAITING][0] == 3
        do_missing(store, SameProcess(fake_run))
        after = {run.hash for run in store.records()}
    assert not before & after
    # The first ones are still there: back with the old program nothing is to be done.
    with planned(tmp_path / "c", plan) as store:
        assert store.counts()[RunStatus.FINISHED][0] == 3


@pytest.mark.parametrize("after", [0, 3, 8])
def test_a_full_disk_stops_and_loses_nothing(tmp_path, monkeypatch, after):
    """Files: what does not fit is gone, what was finished stays."""
    plan = small_plan(9)
    left = [after]
    real = os.fsync

    def fsync(descriptor):
        if left[0] == 0 and os.readlink(f"/proc/self/fd/{descriptor}").endswith(".zip"):
            raise OSError(errno.ENOSPC, "No space left on device")
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".zip"):
            left[0] -= 1
        return real(descriptor)

    with planned(tmp_path / "c", plan) as store:
        monkeypatch.setattr(paretosoc.common.files.os, "fsync", fsync)
        with pytest.raises(ResultError, match="No space left on device"):
            do_missing(store, SameProcess(fake_run))
    monkeypatch.undo()
    assert len(done(tmp_path / "c")) == after
    assert list((tmp_path / "c" / "parts").iterdir()) == []
    with planned(tmp_path / "c", plan) as store:
        do_missing(store, SameProcess(fake_run))
        assert all(store.files(run) for run in store.records())
    assert len(done(tmp_path / "c")) == 9


def test_a_clock_that_jumps_changes_no_run(tmp_path, monkeypatch):
    """The time of day is written down and decides nothing: back by a day with every look."""
    clock = iter(range(10**9, 0, -86_400))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    with planned(tmp_path / "c", small_plan(9)) as store:
        do_missing(store, SameProcess(fake_run))
        found = list(store.records())
    assert len(done(tmp_path / "c")) == 9
    times = [run.finished_at for run in found]
    assert max(times) - min(times) == 8 * 86_400
    assert all(0 <= run.seconds < 3600 for run in found)


def test_the_time_of_day_is_read_by_the_store_alone():
    """All durations and limits are of a clock that does not jump."""
    root = Path(__file__).parents[4] / "paretosoc"
    files = [path for room in root.iterdir() for path in room.rglob("*.py")]
    found = {path.name for path in files if "time.time(" in path.read_text("utf-8")}
    assert found == {"store.py"}


def test_a_database_that_cannot_grow_loses_nothing(tmp_path):
    """The same for the database, by a limit on the size of files that the kernel enforces."""
    with planned(tmp_path / "c", small_plan(150)):
        pass
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from campaign_runs import fake_run\n"
        "from paretosoc.dse.tools.campaign.execute.runner import do_missing\n"
        "from paretosoc.dse.tools.campaign.store.store import Store\n"
        "from paretosoc.dse.tools.campaign.execute.workers import SameProcess\n"
        "from paretosoc.results.errors import ResultError\n"
        "size = int(sys.argv[2])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    with Store(Path(sys.argv[1])) as store:\n"
        "        do_missing(store, SameProcess(fake_run))\n"
        "except ResultError as error:\n"
        "    print(error)\n"
    )
    limit = (tmp_path / "c" / "campaign.sqlite").stat().st_size + 60_000
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "c"), str(limit)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert "campaign.sqlite" in ended.stdout
    kept = done(tmp_path / "c")
    assert 0 < len(kept) < 150
    with Store(tmp_path / "c") as store:
        assert all(store.files(run) for run in kept.values())
        do_missing(store, SameProcess(fake_run))
    assert kept.items() <= done(tmp_path / "c").items()
    assert len(done(tmp_path / "c")) == 150


def test_two_processes_on_one_store_share_the_runs(quick_folder):
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from campaign_runs import fake_run, small_plan\n"
        "from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of\n"
        "from paretosoc.dse.tools.campaign.execute.runner import do_missing\n"
        "from paretosoc.dse.tools.campaign.store.store import Store\n"
        "from paretosoc.dse.tools.campaign.execute.workers import SameProcess\n"
        "plan = small_plan(120)\n"
        "with Store(Path(sys.argv[1]), create=True) as store:\n"
        "    store.set_plan(plan.runs, inputs_of(plan, 'test'), plan.title)\n"
        "    print(do_missing(store, SameProcess(fake_run)).done_here)\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(quick_folder / "c")],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ended = [process.communicate(timeout=120) for process in processes]
    assert all(process.returncode == 0 for process in processes), ended
    # Nothing twice, nothing left.
    assert sum(int(out) for out, _ in ended) == 120
    assert len(done(quick_folder / "c")) == 120


def test_runs_of_a_process_that_has_ended_are_free_again(tmp_path):
    with planned(tmp_path / "c", small_plan(5)) as store:
        child = os.fork()
        if child == 0:
            with Store(tmp_path / "c") as other:
                other.begin_work()
                claimed = len(other.claim(3))
                os._exit(claimed)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        store.begin_work()
        assert len(store.claim(5)) == 5


def test_locks_that_a_killed_process_had_not_named_yet_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, begun = (tmp_path / f".my-host-{pid}-0a1b" for pid in (ended.pid, os.getpid()))
    left.touch()
    begun.touch()
    owner = Owner(tmp_path)
    forget_dead(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([begun, owner.path])
    owner.close()


def test_runs_of_a_process_at_work_are_left_to_it(tmp_path):
    with planned(tmp_path / "c", small_plan(5)) as one, Store(tmp_path / "c") as two:
        one.begin_work()
        two.begin_work()
        first, second = one.claim(3), two.claim(5)
        assert len(first) == 3
        assert len(second) == 2
        assert not {task.hash for task in first} & {task.hash for task in second}
        assert one.at_work() == 5


def test_the_time_left_is_estimated_from_runs_that_ended(tmp_path):
    with planned(tmp_path / "c", small_plan(3)) as store:
        assert do_missing(store, SameProcess(fake_run)).seconds_left == 0.0


def test_a_run_that_fails_is_tried_again_recorded_and_stops_nobody(tmp_path):
    calls = []

    def pluralize(task):
        calls.append(task.inputs.settings.seed)
        return bad_run(task)

    with planned(tmp_path / "c", small_plan(6)) as store:
        progress = do_missing(store, SameProcess(pluralize), max_attempts=3)
        assert (progress.finished, progress.failed) == (3, 3)
        failed = list(store.records(RunStatus.FAILED))
    assert sorted(calls) == [0, 1, 1, 1, 2, 3, 3, 3, 4, 5, 5, 5]
    assert [run.error for run in failed] == [f"ValueError: seed {n} is odd" for n in (1, 3, 5)]
    with planned(tmp_path / "c", small_plan(6)) as store:
        assert do_missing(store, SameProcess(fake_run)).done_here == 0
        store.retry_failed()
        assert do_missing(store, SameProcess(fake_run)).finished == 6


def test_a_worker_that_dies_takes_only_its_own_run_along(tmp_path):
    (tmp_path / "marks").mkdir()
    with planned(tmp_path / "c", small_plan(12)) as store:
        workers = LocalWorkers(DeadlyRun(tmp_path / "marks"), 2)
        try:
            progress = do_missing(store, workers)
        finally:
            workers.close()
        attempts = {run.settings.seed: run.attempts for run in store.records()}
    assert (progress.finished, progress.failed) == (12, 0)
    assert attempts == {seed: int(seed % 3 == 0) for seed in range(12)}


def test_workers_end_with_the_process_that_started_them(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    with planned(tmp_path / "c", small_plan(4)):
        pass
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from campaign_runs import slow_run\n"
        "from paretosoc.dse.tools.campaign.execute.workers import LocalWorkers\n"
        "from paretosoc.dse.tools.campaign.execute.runner import do_missing\n"
        "from paretosoc.dse.tools.campaign.store.store import Store\n"
        "if __name__ == '__main__':\n"
        "    do_missing(Store(Path(sys.argv[1])), LocalWorkers(slow_run, 2))\n"
    )
    path = tmp_path / "main.py"
    path.write_text(script)
    process = subprocess.Popen(
        [sys.executable, str(path), str(tmp_path / "c")],
        env={**environment(), "CAMPAIGN_MARKS": str(marks)},
    )
    wait_until(lambda: len(list(marks.iterdir())) == 2)
    pids = [int(mark.name) for mark in marks.iterdir()]
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    with Store(tmp_path / "c") as store:
        assert store.at_work() == 0
        assert do_missing(store, SameProcess(fake_run)).finished == 4


def wait_until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("did not happen within half a minute")


def test_a_changed_result_is_refused(tmp_path):
    with planned(tmp_path / "c", small_plan(2)) as store:
        do_missing(store, SameProcess(fake_run))
        first, second = store.records()
        path = store.pack_path(first.hash)
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(ResultError, match="was changed"):
            store.files(first)
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(ResultError, match="was changed"):
            store.files(first)
        path.unlink()
        with pytest.raises(ResultError, match="cannot be read"):
            store.files(first)
        assert store.files(second)
        problem = store.problem_path(second.problem_sha256)
        problem.write_bytes(compress(b"another problem"))
        with pytest.raises(ResultError, match="was changed"):
            store.files(second)


def test_a_run_begins_with_the_front_of_the_one_it_names(tmp_path):
    plan = make_plan(rules(power_cap_w=(None, "30", "20"), warm_start=("power_cap_w",)))
    starts = {}

    def noted(task):
        starts[task.inputs.settings.power_cap_w] = task.start
        return replace(fake_run(task), figures=replace(fake_run(task).figures, rows=((1, 2),)))

    with planned(tmp_path / "c", plan) as store:
        do_missing(store, SameProcess(noted))
        runs = list(store.records())
    assert starts == {None: None, "30": ((1, 2),), "20": ((1, 2),)}
    assert [run.inputs.starts_from for run in runs] == [None, runs[0].hash, runs[1].hash]


def test_a_run_whose_beginning_failed_fails_and_one_without_a_front_does_not(tmp_path):
    plan = make_plan(rules(power_cap_w=(None, "30"), seed=(0, 1, 2), warm_start=("power_cap_w",)))

    def some(task):
        seed = task.inputs.settings.seed
        if seed == 1 and task.inputs.settings.power_cap_w is None:
            raise ValueError("no")
        if seed == 2 and task.inputs.settings.power_cap_w is None:
            return replace(
                fake_run(task), status=RunStatus.INFEASIBLE, figures=None, message="too hot"
            )
        assert task.start is None or seed == 0
        return fake_run(task)

    with planned(tmp_path / "c", plan) as store:
        progress = do_missing(store, SameProcess(some))
        errors = {(r.settings.seed, r.settings.power_cap_w): r.error for r in store.records()}
    assert (progress.finished, progress.infeasible, progress.failed) == (3, 1, 2)
    assert errors[1, "30"] == "the run that it starts from failed"
    assert errors[2, None] == "too hot"
    assert errors[2, "30"] is None


def test_all_runs_behind_one_that_failed_fail_at_once(dse, tmp_path):
    """A level of them at each look would take half a second for each."""
    caps = tuple(str(watts) for watts in range(10, 30))
    plan = make_plan(rules(power_cap_w=caps, warm_start=("power_cap_w",)))
    with planned(tmp_path / "c", plan) as store:
        store.begin_work()
        (first,) = store.claim(99)
        assert store.record_failure(first.hash, "no", max_attempts=1)
        assert store.claim(99) == []
        counts = store.counts()
    assert counts[RunStatus.FAILED][0] == len(caps)
    assert counts[RunStatus.WAITING][0] == 0
    # The status names ten of them, in JSON all.
    assert "and 10 more failed" in dse("campaign", "status", tmp_path / "c").out
    told = json.loads(dse("campaign", "status", tmp_path / "c", "--json").out)
    assert len(told["failures"]) == told["failed"] == len(caps)


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ResultError, match="is not empty"):
        Store(tmp_path, create=True)
    with pytest.raises(ResultError, match="is not the folder of a campaign"):
        Store(tmp_path / "none")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "campaign.sqlite").write_bytes(b"no database at all, but long enough" * 9)
    with pytest.raises(ResultError, match="not a database"):
        Store(tmp_path / "x")


def test_runs_are_found_by_name_and_hash(tmp_path):
    with planned(tmp_path / "c", small_plan(30)) as store:
        run = store.find("alexnet / seed 7")
        assert run.settings.seed == 7
        assert store.find(run.hash[:12]).name == run.name
        with pytest.raises(
            ResultError, match=r"there is none in .*, whose first is 'alexnet / seed 0'"
        ):
            store.find("alexnet / seed 77")
