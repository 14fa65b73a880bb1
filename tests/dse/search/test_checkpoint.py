"""Searches that are interrupted, killed and resumed give what they would have given."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import paretosoc as dse
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.cli.main import run
from paretosoc.dse.engines.optimizers import OPTIMIZERS, optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.search.checkpoint import CheckpointFile, Identity
from paretosoc.dse.search.driver import Budget, StoppedBy, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from tests.support.explored import explore
from tests.support.problems.pipeline_spaces import with_throughput
from tests.support.problems.small_spaces import small_space

RESUMABLE = [name for name in OPTIMIZERS.names() if optimizer_named(name).resumable]
ROOT = Path(__file__).parents[3]


def checkpoint_at(path, space, name="nsga2", seed=3, **changes):
    identity = {"problem_sha256": "0" * 64, "engine": name, "seed": seed, "version": "1"}
    return CheckpointFile(
        path, Identity(**{**identity, **changes}), space, constraints=0, seconds_between=0.0
    )


def space_for(name):
    space = small_space(3) if name == "exhaustive" else DesignSpace(reference_problem())
    return space if not optimizer_named(name).required else with_throughput(space)


class _Killed(BaseException):
    """Ends a search where nobody is asked."""


def killed_after(evaluate, batches):
    def counting(rows):
        nonlocal batches
        if batches == 0:
            raise _Killed
        batches -= 1
        return evaluate(rows)

    return counting


def same(first, second):
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(first.objectives, second.objectives)
    assert np.array_equal(first.least_constraint_values, second.least_constraint_values)
    assert (first.evaluations, first.stopped_by) == (second.evaluations, second.stopped_by)
    assert len(first.snapshots) == len(second.snapshots)
    for a, b in zip(first.snapshots, second.snapshots, strict=True):
        assert a.evaluations == b.evaluations
        assert np.array_equal(a.objectives, b.objectives)


@pytest.mark.parametrize("name", RESUMABLE)
@pytest.mark.parametrize("budget", [Budget(6500), Budget(30_000, stalled=700)])
def test_killed_again_and_again_it_gives_the_same_as_in_one_go(name, budget, tmp_path):
    space = space_for(name)
    evaluate = make_outcomes(space.problem)

    def fresh():
        return optimizer_named(name).start(space, 3)

    whole = search(fresh(), evaluate, budget)
    file = checkpoint_at(tmp_path / "state", space, name)
    for batches in (0, 1, 1, 2):
        with pytest.raises(_Killed):
            search(
                fresh(),
                killed_after(evaluate, batches),
                budget,
                checkpoint=file,
            )
        if name == "exhaustive":
            break
    same(search(fresh(), evaluate, budget, checkpoint=file), whole)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["state"]


def test_a_larger_budget_goes_on_as_if_it_had_been_so_large_from_the_start(tmp_path):
    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    file = checkpoint_at(tmp_path / "state", space)
    for evaluations in (1, 77, 1000, 1001, 3000):
        part = search(
            optimizer_named("nsga2").start(space, 3),
            evaluate,
            Budget(evaluations),
            checkpoint=file,
        )
        assert part.evaluations == evaluations
        same(part, search(optimizer_named("nsga2").start(space, 3), evaluate, Budget(evaluations)))


def front_of(checkpoint=None):
    """Of an exploration that resumes from the checkpoint, if there is one."""
    return explore(
        ["squeezenet", "bvlc_alexnet"],
        "jetson-agx-xavier",
        options=Options(groups=6),
        max_evaluations=30_000,
        seed=4,
        checkpoint=checkpoint,
    )


def test_kill_9_and_resume(tmp_path):
    state = tmp_path / "state"
    code = (
        "import sys, pathlib, paretosoc.dse.search.checkpoint\n"
        "from tests.dse.search.test_checkpoint import front_of\n"
        "paretosoc.dse.search.checkpoint.SECONDS_BETWEEN = 0.0\n"
        "front_of(pathlib.Path(sys.argv[1]))"
    )
    for _ in range(2):
        before = state.stat().st_mtime_ns if state.exists() else None
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(state)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        while process.poll() is None:
            if state.exists() and state.stat().st_mtime_ns != before:
                process.send_signal(signal.SIGKILL)
                process.wait()
            time.sleep(0.01)
        assert process.returncode == -signal.SIGKILL, "killed before it was done"
    whole = front_of()
    # Once more when all is done: nothing is left to do, and the answer stays.
    for front in (front_of(state), front_of(state)):
        assert [m.objectives for m in front.members] == [m.objectives for m in whole.members]
        for ours, theirs in zip(front.members, whole.members, strict=True):
            assert np.array_equal(ours.design.row, theirs.design.row)
        assert front.provenance.convergence == whole.provenance.convergence
        assert front.provenance.evaluations == whole.provenance.evaluations == 30_000


def test_what_is_asked_of_a_checkpoint_that_cannot_be(tmp_path, capsys):
    state, folder = tmp_path / "state", tmp_path / "out"
    base = ["explore", "squeezenet", "-p", "jetson-agx-xavier", "-o", str(folder), "--quiet"]
    base += ["--runtime", "none", "--max-transitions", "any"]
    kept = [*base, "--checkpoint", str(state)]

    def refused(*arguments):
        assert run([*arguments]) == 2
        return capsys.readouterr().err

    assert "pymoo-nsga2 cannot" in refused(*kept, "--engine", "pymoo-nsga2")
    assert not state.exists()
    explore(["squeezenet"], "jetson-agx-xavier", max_evaluations=300, checkpoint=state)
    for more, what in (
        (("--seed", "9"), "seed"),
        (("--engine", "random"), "engine"),
        (("--groups", "3"), "problem sha256"),
    ):
        assert f"another search: its {what} is" in refused(*kept, *more)
    assert not folder.exists()


def test_a_file_that_is_no_checkpoint_stays(tmp_path, capsys):
    state = tmp_path / "state"
    state.write_text("notes of mine")
    command = ["explore", "squeezenet", "-p", "jetson-agx-xavier", "-o", str(tmp_path / "out")]
    assert run([*command, "--checkpoint", str(state)]) == 2
    assert "is not a checkpoint" in capsys.readouterr().err
    assert state.read_text() == "notes of mine"


def a_state(tmp_path):
    space = DesignSpace(reference_problem())
    file = checkpoint_at(tmp_path / "state", space)
    search(
        optimizer_named("nsga2").start(space, 3),
        make_outcomes(space.problem),
        Budget(900),
        checkpoint=file,
    )
    return space, file


def attempt(space, file):
    return search(
        optimizer_named("nsga2").start(space, 3),
        make_outcomes(space.problem),
        Budget(1200),
        checkpoint=file,
    )


def test_damaged_bytes_are_refused_or_change_nothing(tmp_path):
    space, file = a_state(tmp_path)
    path = tmp_path / "state"
    data = path.read_bytes()
    wanted = attempt(space, file)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        if rng.integers(3) == 0:
            damaged = damaged[: rng.integers(len(data))]
        path.write_bytes(bytes(damaged))
        try:
            found = attempt(space, file)
        except ResultError:
            refused += 1
        else:
            same(found, wanted)
    assert refused > 40


CHANGES = {
    "pending": lambda a: a + 100,
    "front_rows": lambda a: a - 1,
    "front_objectives": lambda a: a[:-1],
    "front_numbers": lambda a: a[::-1],
    "front_added": lambda a: -a,
    "snapshot_members": lambda a: a + 1,
    "snapshot_evaluations": lambda a: a.astype(np.float64),
    "engine_population": lambda a: a * 1000,
    "engine_objectives": lambda a: a[:, :1],
    "engine_visits": lambda a: np.append(a, a),
    "engine_seen": lambda a: a * np.uint64(0),
    "meta": lambda a: a[:-9],
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("drop", [False, True])
def test_changed_arrays_are_refused_by_name(name, drop, tmp_path):
    space, file = a_state(tmp_path)
    path = tmp_path / "state"
    arrays = dict(np.load(io.BytesIO(path.read_bytes())))
    if drop:
        del arrays[name]
    else:
        arrays[name] = CHANGES[name](arrays[name])
    with path.open("wb") as target:
        np.savez(target, **arrays)
    with pytest.raises(ResultError, match=str(path)):
        attempt(space, file)


def test_pickled_objects_are_never_loaded(tmp_path):
    space, file = a_state(tmp_path)
    path = tmp_path / "state"
    arrays = dict(np.load(io.BytesIO(path.read_bytes())))
    arrays["pending"] = np.array([print], dtype=object)
    with path.open("wb") as target:
        np.savez(target, allow_pickle=True, **arrays)
    with pytest.raises(ResultError, match="not a checkpoint"):
        attempt(space, file)


def test_an_engine_that_cannot_be_resumed_says_so(tmp_path):
    space = small_space(0)
    file = checkpoint_at(tmp_path / "state", space)
    engine = optimizer_named("pymoo-nsga2").start(space, 0)
    with pytest.raises(WorkloadError, match="pymoo-nsga2 cannot resume"):
        search(engine, make_outcomes(space.problem), Budget(100), checkpoint=file)


def test_a_stalled_search_ends_and_says_so():
    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    result = search(optimizer_named("nsga2").start(space, 1), evaluate, Budget(10**7, stalled=5000))
    assert result.stopped_by is StoppedBy.STALLED
    assert 10_000 < result.evaluations < 200_000
    fronts = [entry.objectives for entry in result.snapshots]
    assert len(fronts[-1]) > 60


def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_search(tmp_path):
    (tmp_path / "none").touch()
    file = tmp_path / "none" / "state"
    with pytest.raises(dse.DseError, match=r"checkpoint .*: Not a directory"):
        dse.explore("squeezenet", "jetson-tx2", groups=2, checkpoint=file, max_evaluations=20)
