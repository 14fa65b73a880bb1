"""What killed processes left half-written is removed by whoever writes the same target next."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager

import pytest

from paretosoc.common import unfinished as module
from paretosoc.common.files import replace_file
from paretosoc.common.unfinished import remove_abandoned, temporary_folder, unfinished

WAITS = """
import sys
from pathlib import Path
from paretosoc.common.unfinished import unfinished
with unfinished(Path(sys.argv[1]), folder=sys.argv[2] == "folder") as part:
    if part.is_dir():
        (part / "model.onnx").write_bytes(b"large")
    print(part, flush=True)
    sys.stdin.read()
"""


@contextmanager
def writer(target, kind):
    """A process that is writing the target; its part."""
    script = [sys.executable, "-c", WAITS, str(target), kind]
    process = subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process, target.parent / process.stdout.readline().strip().rpartition("/")[2]
    finally:
        process.communicate()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_part_of_a_killed_process_is_removed_by_the_next_run(tmp_path, kind):
    target = tmp_path / "out"
    with writer(target, kind) as (process, part):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert part.exists()
    with unfinished(target):
        assert not part.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_part_of_a_process_that_lives_stays(tmp_path, kind):
    target = tmp_path / "out"
    with writer(target, kind) as (_, part):
        replace_file(target, b"written meanwhile")
        remove_abandoned(tmp_path)
        assert part.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_only_parts_of_the_target_are_removed(tmp_path):
    kept = [
        *(".other.1-0123abcd.part", ".out.part", "out.1-0123abcd.part", ".out.1-0123ABCD.part"),
        ".out.x-0123abcd.part",
    ]
    for name in kept:
        (tmp_path / name).write_text("not of this target")
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / ".out.1-0123abcd.part").symlink_to(outside)
    (tmp_path / ".out.2-0123abcd.part").mkdir()
    remove_abandoned(tmp_path, "out")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*kept, "outside", ".out.1-0123abcd.part"}


def test_a_folder_moved_aside_stays_while_it_is_the_only_one(tmp_path):
    old = tmp_path / ".out.1-0123abcd.old"
    old.mkdir()
    remove_abandoned(tmp_path, "out")
    assert old.is_dir()
    (tmp_path / "out").mkdir()
    remove_abandoned(tmp_path, "out")
    assert not old.exists()


def test_a_part_that_is_taken_for_abandoned_before_it_is_locked_is_made_again(
    tmp_path, monkeypatch
):
    lock, held = fcntl.flock, []

    def late(descriptor, operation):
        if not held:
            held.append(descriptor)
            remove_abandoned(tmp_path)
        lock(descriptor, operation)

    monkeypatch.setattr(module.fcntl, "flock", late)
    with unfinished(tmp_path / "out", folder=True) as part:
        assert part.is_dir()
        assert len(list(tmp_path.iterdir())) == 1


def test_without_locks_parts_are_written_and_stay_when_abandoned(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    (tmp_path / ".out.1-0123abcd.part").mkdir()
    replace_file(tmp_path / "out", b"written")
    assert {path.name for path in tmp_path.iterdir()} == {"out", ".out.1-0123abcd.part"}


def test_temporary_folders_of_killed_processes_are_removed_too(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / ".paretosoc.1-0123abcd.part").mkdir()
    with temporary_folder() as folder:
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert os.access(folder, os.W_OK)
    assert list(tmp_path.iterdir()) == []
