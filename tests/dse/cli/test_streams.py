"""Standard streams that are closed or full."""

import os
import signal
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


def test_a_path_that_the_locale_cannot_say_is_called_so(tmp_path):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell("", "show", tmp_path / "gr\u00fcn", **ascii_only)
    assert done.returncode == 2
    assert "must be text in the encoding of the locale (ascii)" in done.stderr
    assert "control characters" not in done.stderr
    utf8 = shell("", "show", tmp_path / "gr\u00fcn", **ascii_only | {"PYTHONUTF8": "1"})
    assert "there is no such folder" in utf8.stderr


def test_too_small_an_address_space_is_refused(tmp_path):
    """LLVM would end the process."""
    code = "import paretosoc as dse; dse.explore('squeezenet', 'jetson-tx2', max_evaluations=20)"
    for command in (
        f'"{sys.executable}" -c "{code}"',
        f'"{sys.executable}" -m paretosoc explore squeezenet -p jetson-tx2 -o "{tmp_path / "out"}"',
    ):
        script = f"ulimit -v 600000; {command}"
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
        assert "an address space of 781250 KiB or more is required, got a limit of 600000 KiB" in (
            done.stderr
        )
        assert done.returncode in (1, 2)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "dse: not enough memory\n"),
        (ImportError("a.so: failed to map segment from shared object"), "dse: not enough memory\n"),
        (RuntimeError("can't start new thread"), "dse: cannot start a thread: memory or"),
    ],
)
def test_limits_of_the_system_are_no_internal_errors(dse, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("paretosoc.dse.cli.main._APP", fail)
    done = dse("show")
    assert done.status == 2
    assert done.err.startswith(message)


CTRL_C = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

# The tests themselves may run in the background.
is_ignored = sys.argv.pop(1) == "ignored"
signal.signal(signal.SIGINT, signal.SIG_IGN if is_ignored else signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
runpy.run_module("paretosoc", run_name="__main__")
"""


def test_ctrl_c_while_python_imports_leaves_no_traceback():
    """A shell that runs the command in the background may have it ignore Ctrl-C."""
    results = {
        way: subprocess.run(
            [sys.executable, "-c", CTRL_C, way, "--version"],
            capture_output=True, text=True, check=False,
        )
        for way in ("default", "ignored")
    }  # fmt: skip
    assert (results["default"].returncode, results["default"].stderr) == (-signal.SIGINT, "")
    assert (results["ignored"].returncode, results["ignored"].stderr) == (0, "")
    assert results["ignored"].stdout.startswith("dse ")


NO_LOCKS = """
import sys
sys.modules.update(dict.fromkeys(("fcntl", "grp", "pwd", "resource")))
from paretosoc.dse.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def test_systems_without_locks_get_one_line(pair_folder):
    command = [sys.executable, "-c", NO_LOCKS]
    done = subprocess.run(
        [*command, "show", str(pair_folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "dse: Linux or macOS is required; on Windows use WSL 2\n"
    assert subprocess.run([*command, "--version"], check=False).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        ("profile", "squeezenet", "-o", "out"),
        ("measure", "co-runs", "squeezenet", "alexnet", "vgg19", "-o", "out"),
    ],
)
def test_systems_that_cannot_pin_processes_get_one_line(dse, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(os, "sched_getaffinity")
    outcome = dse(*command)
    assert (outcome.status, outcome.lines) == (2, ["dse: pinning processes to cores needs Linux"])
