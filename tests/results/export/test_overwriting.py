"""Result folders written over older ones, beside strange files, and to a sudden end."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import check_output_folder, read_results, write_results
from paretosoc.results.io import atomic_folder
from tests.support.result_folders import files


def test_an_existing_folder_is_refused_without_overwrite(front, folder):
    before = files(folder)
    with pytest.raises(ResultError, match="exists already"):
        write_results(folder, front, pictures=False)
    assert files(folder) == before


def test_overwrite_replaces_an_older_result(front, folder):
    shorter = dataclasses.replace(front, members=front.members[:1])
    (folder / "front.png").write_bytes(b"of the older front")
    write_results(folder, shorter, overwrite=True, pictures=False)
    assert len(read_results(folder).members) == 1
    assert set(files(folder)) == {"front.json", "problem.json"}
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


def test_overwrite_takes_an_empty_folder_and_makes_parents(front, tmp_path):
    (tmp_path / "empty").mkdir()
    write_results(tmp_path / "empty", front, overwrite=True, pictures=False)
    write_results(tmp_path / "a" / "b" / "c", front, pictures=False)
    assert len(read_results(tmp_path / "a" / "b" / "c").members) == len(front.members)


def test_overwrite_follows_a_link(front, folder):
    link = folder.parent / "link"
    link.symlink_to("run")
    shorter = dataclasses.replace(front, members=front.members[:1])
    write_results(link, shorter, overwrite=True, pictures=False)
    assert link.is_symlink()
    assert len(read_results(folder).members) == 1


def strange_file(folder):
    (folder / "thesis.tex").write_text("years of work")


def strange_folder(folder):
    (folder / "front.svg").mkdir()


def strange_link(folder):
    (folder / "front.svg").symlink_to("/etc/hostname")


def strange_front(folder):
    (folder / "front.json").write_text('{"format": "something else"}')


def no_front(folder):
    (folder / "front.json").unlink()


@pytest.mark.parametrize(
    "put", [strange_file, strange_folder, strange_link, strange_front, no_front]
)
def test_overwrite_never_touches_what_is_not_ours(front, folder, put):
    put(folder)
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(ResultError, match="is not replaced"):
        write_results(folder, front, overwrite=True, pictures=False)
    with pytest.raises(ResultError, match="is not replaced"):
        check_output_folder(folder, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_file_in_the_way_is_refused(front, tmp_path):
    path = tmp_path / "run"
    path.write_text("a file")
    for overwrite in (False, True):
        with pytest.raises(ResultError):
            write_results(path, front, overwrite=overwrite, pictures=False)
    with pytest.raises(ResultError, match="cannot be written"):
        write_results(path / "inside", front, pictures=False)
    assert path.read_text() == "a file"


def test_an_error_in_the_middle_leaves_nothing(front, folder, monkeypatch):
    write = Path.write_bytes

    def fail(self, data):
        if self.name == "front.svg":
            raise KeyboardInterrupt
        return write(self, data)

    before = files(folder)
    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(KeyboardInterrupt):
        write_results(folder.parent / "other", front)
    with pytest.raises(KeyboardInterrupt):
        write_results(folder, front, overwrite=True)
    assert [path.name for path in folder.parent.iterdir()] == ["run"]
    assert files(folder) == before


def test_without_an_exchange_in_one_step_the_older_result_is_moved_aside(
    front, folder, monkeypatch
):
    monkeypatch.setattr(atomic_folder, "_exchange", lambda *_: False)
    shorter = dataclasses.replace(front, members=front.members[:1])
    write_results(folder, shorter, overwrite=True, pictures=False)
    assert len(read_results(folder).members) == 1
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


def test_a_rename_that_fails_brings_the_older_result_back(front, folder, monkeypatch):
    before = files(folder)
    rename = Path.rename

    def fail(self, target):
        if self.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    monkeypatch.setattr(atomic_folder, "_exchange", lambda *_: False)
    with pytest.raises(ResultError, match="cannot be written: No space left"):
        write_results(folder, front, overwrite=True, pictures=False)
    assert files(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


KILLED_AT_SYNC = """
import os, signal, sys
from pathlib import Path
from paretosoc.results.export.result_folder import read_results, write_results
front = read_results(Path(sys.argv[1]))
left, sync = int(sys.argv[3]), os.fsync
def fsync(descriptor):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    sync(descriptor)
os.fsync = fsync
write_results(Path(sys.argv[2]), front, overwrite=True, pictures=False)
"""


@pytest.mark.parametrize(("syncs", "written"), [(0, False), (1, False), (2, False), (3, True)])
@pytest.mark.parametrize("existing", [False, True])
def test_a_killed_write_leaves_the_old_or_the_new_result(front, folder, syncs, written, existing):
    """The writer syncs two files, their folder, and after the rename the parent."""
    target = folder.parent / "target"
    older = dataclasses.replace(front, members=front.members[:1])
    if existing:
        write_results(target, older, pictures=False)
    script = [sys.executable, "-c", KILLED_AT_SYNC, str(folder), str(target), str(syncs)]
    assert subprocess.run(script, check=False).returncode == -9
    if written:
        assert files(target) == files(folder)
    elif existing:
        assert len(read_results(target).members) == 1
    else:
        assert not target.exists()
    write_results(target, front, overwrite=True, pictures=False)
    assert files(target) == files(folder)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["run", "target"]


def test_a_part_that_a_killed_report_left_in_a_result_does_not_make_it_foreign(front, folder):
    (folder / ".report.html.123-0123abcd.part").write_text("half a page")
    write_results(folder, front, overwrite=True, pictures=False)
    assert set(files(folder)) == {"front.json", "problem.json"}


@pytest.mark.parametrize("blocked", ["itself", "parent"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(folder, monkeypatch, blocked):
    path = folder if blocked == "itself" else folder.parent
    access = os.access
    monkeypatch.setattr(
        atomic_folder.os, "access", lambda p, mode: Path(p) != path and access(p, mode)
    )
    with pytest.raises(ResultError, match=f"run: cannot be written: {path} is read-only"):
        check_output_folder(folder, overwrite=True)


def test_a_folder_where_a_file_system_is_mounted_is_refused_before_the_work(folder, monkeypatch):
    monkeypatch.setattr(atomic_folder.os.path, "ismount", lambda path: path == folder)
    with pytest.raises(ResultError, match="run: cannot be replaced, a file system is mounted"):
        check_output_folder(folder, overwrite=True)


def test_an_existing_front_is_refused_with_the_command_that_proves_it(folder):
    with pytest.raises(
        ResultError, match=r"overwrite=True replaces it, 'dse certify .*/run' continues"
    ):
        check_output_folder(folder, overwrite=False)


def test_a_plain_file_is_called_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ResultError, match="file: is not a folder"):
        check_output_folder(tmp_path / "file", overwrite=False)
    with pytest.raises(ResultError, match=r"below: cannot be written: .*file is not"):
        check_output_folder(tmp_path / "file" / "below", overwrite=False)
