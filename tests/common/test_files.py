"""Files that are read: to a limit, whatever they are."""

import os
import threading

import pytest

from common.errors import MAX_MESSAGE, DseError
from common.files import read_file


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
