"""Standard streams that are closed or full."""

import subprocess
import sys

import pytest


def shell(tail, *arguments):
    """Run a command in a shell that ends with redirections."""
    command = [sys.executable, "-m", "dse", *map(str, arguments)]
    script = ["sh", "-c", f'"$@" {tail}', "sh", *command]
    return subprocess.run(script, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("--version",), ("show",)])
def test_a_closed_stdout_changes_nothing_else(pair_folder, arguments):
    if arguments == ("show",):
        arguments = ("show", pair_folder)
    done = shell(">&-", *arguments)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_streams_closed(tmp_path):
    assert shell("<&- >&- 2>&-", "--version").returncode == 0
    assert shell("<&- >&- 2>&-", "show", tmp_path / "none").returncode == 2


@pytest.mark.parametrize("arguments", [("networks",), ("--version",)])
def test_a_full_device_behind_stdout_is_named(arguments):
    done = shell(">/dev/full", *arguments)
    assert done.stderr == "dse: standard output: No space left on device\n"
    assert done.returncode == 2
