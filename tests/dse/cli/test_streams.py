"""Standard streams that are closed or full."""

import os
import subprocess
import sys

import pytest


def shell(tail, *arguments, **variables):
    """Run a command in a shell that ends with redirections."""
    command = [sys.executable, "-m", "paretosoc", *map(str, arguments)]
    script = ["sh", "-c", f'"$@" {tail}', "sh", *command]
    env = {**os.environ, **variables}
    return subprocess.run(script, capture_output=True, text=True, check=False, env=env)


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


def test_a_locale_without_the_characters_of_a_table_gets_another_one(pair_folder):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell("", "show", pair_folder, **ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii(), ascii(done.stdout)[:300]
    assert len(done.stdout.splitlines()) > 5


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "dse: not enough memory\n"),
        (RuntimeError("can't start new thread"), "dse: cannot start a thread: memory or"),
    ],
)
def test_limits_of_the_system_are_no_internal_errors(dse, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("paretosoc.dse.cli.main.app", fail)
    done = dse("show")
    assert done.status == 2
    assert done.err.startswith(message)
