"""Files that are read, to a limit, whatever they are; and files that are replaced, whole or not at
all."""

import os
import threading
from pathlib import Path

import pytest

from paretosoc.common import files
from paretosoc.common.errors import MAX_MESSAGE, DseError
from paretosoc.common.files import read_file, replace_file


class OwnError(DseError):
    pass


def test_a_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "file"
    for size in (0, 1, 99, 100):
        path.write_bytes(b"x" * size)
        assert read_file(path, OwnError, 100) == b"x" * size
    path.write_bytes(b"x" * 101)
    with pytest.raises(OwnError, match="file: must have at most 100 bytes"):
        read_file(path, OwnError, 100)


def test_a_device_without_end_is_refused():
    with pytest.raises(OwnError, match="/dev/zero: must have at most 1000 bytes"):
        read_file("/dev/zero", OwnError, 1000)


def test_a_pipe_is_read_whole(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"y" * 300_000,))
    writer.start()
    assert read_file(path, OwnError, 300_000) == b"y" * 300_000
    writer.join()


@pytest.mark.parametrize("name", ["", "none", "a\0b", ".", "x" * 300])
def test_what_cannot_be_read_is_an_error_of_the_class_asked_for(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OwnError, match="cannot be read: "):
        read_file(name, OwnError)


def test_a_message_keeps_both_ends_and_no_control_character():
    text = str(DseError("begin\x1b " + "x" * 10**6 + " end"))
    assert text.startswith("begin\ufffd x")
    assert text.endswith("x end")
    assert len(text) < MAX_MESSAGE + 10


def test_a_file_is_replaced_and_a_link_stays_one(tmp_path):
    target, link = tmp_path / "folder" / "file", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to(target)
    for content in (b"first", b""):
        replace_file(link, content)
        assert target.read_bytes() == content
    assert link.is_symlink()
    assert [path.name for path in target.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_file_that_cannot_be_replaced_is_what_it_was(tmp_path, monkeypatch, call):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((files.os, "fsync") if call == "fsync" else (Path, "replace")), full)
    with pytest.raises(OSError, match="No space left") as caught:
        replace_file(path, b"after")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
