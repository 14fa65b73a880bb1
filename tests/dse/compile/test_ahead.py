"""What documented commands run is compiled ahead by ``python -m paretosoc.dse.compile``."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paretosoc.fitness.branch_and_bound.search import search_nodes
from paretosoc.fitness.warm_up import _nodes

ROOT = Path(__file__).parents[3]
PROGRAM = """
import shlex
import sys
from pathlib import Path
from paretosoc.dse.cli.main import run
from paretosoc.dse.compile.warm_up import PARTS
from paretosoc.dse.api.views import sureness
from paretosoc.common.machine_code.kernel import Kernel

seen, load = set(), Kernel._load

def note(kernel, key, arguments):
    seen.add(f"{kernel.py_func.__module__}.{kernel.__name__}: {key}")
    return load(kernel, key, arguments)

sureness._QUICK_DRAWS = sureness._FREE_RUNNING_DRAWS = 10
Kernel._load = note
for compile_part in PARTS.values():
    compile_part()
ahead = set(seen)
for place, command in enumerate(sys.argv[2:]):
    folder = f"{sys.argv[1]}/{place}"
    few = ["--max-evaluations", "300", "--time-limit", "1", "--jobs", "1", "-q", "-o", folder]
    assert run([*shlex.split(command), *few]) == 0, command
    # Variants of a workload have folders of their own.
    folder = str(min(Path(folder).rglob("front.json")).parent)
    assert run(["certify", folder, "--time-limit", "1", "--jobs", "1", "-q"]) == 0, command
    assert run(["verify", folder]) == run(["show", folder, "--member", "knee"]) == 0, command
    assert seen == ahead, (command, seen - ahead)
"""


def commands() -> list[str]:
    """Return the explorations of the README and of the example workloads, as they say."""
    pages = [ROOT / "README.md", *sorted((ROOT / "examples" / "workloads").glob("*.yaml"))]
    joined = [re.sub(r"\\\n#? *", "", page.read_text(encoding="utf-8")) for page in pages]
    found = re.findall(r"^#? +dse (explore .+)$", "\n".join(joined), re.MULTILINE)
    own = r" --max-evaluations \S+| -o \S+"
    return [re.sub(own, "", line) for line in found if ".onnx" not in line]


def test_nothing_is_compiled_for_a_documented_command(tmp_path):
    assert len(commands()) == 8, "all example workloads say a command"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path, *commands()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


ALONE = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
"""
BASELINES = """
from paretosoc.dse.cli.main import run
sys.exit(run(["baselines", "alexnet", "-p", "jetson-nano"]))
"""
COMPILE = """
import runpy
sys.argv[1:] = ["proof"]
runpy.run_module("paretosoc.dse.compile", run_name="__main__")
"""
OBJECT_FILE = """
from pathlib import Path
from paretosoc.common.errors import DseError
from paretosoc.fitness.branch_and_bound.search import search_nodes
from paretosoc.fitness.warm_up import _nodes, is_branch_and_bound_built

search_nodes._paths = lambda key: iter([Path(sys.argv[1], "search_nodes.so")])
Path(sys.argv[1], "search_nodes.o").touch()
assert is_branch_and_bound_built(engines=False)
try:
    search_nodes(*_nodes(engines=False), 1)
except DseError as error:
    sys.exit(f"dse: {error}")
"""


@pytest.mark.parametrize("code", [BASELINES, COMPILE, OBJECT_FILE])
def test_without_numba_a_kernel_that_is_missing_says_what_to_install(tmp_path, code):
    done = subprocess.run(
        [sys.executable, "-c", ALONE + code, tmp_path],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "empty")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (1 if code is OBJECT_FILE else 2)
    assert done.stderr.startswith("dse: ")
    assert done.stderr.endswith("pip install 'paretosoc[compile]'\n")


def test_a_fault_of_the_compiler_itself_is_not_told_as_a_missing_numba(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "paretosoc.common.machine_code.link", None)
    monkeypatch.setattr(search_nodes, "loaded", {})
    monkeypatch.setattr(search_nodes, "_paths", lambda _: iter([tmp_path / "search_nodes.so"]))
    with pytest.raises(ModuleNotFoundError, match="machine_code"):
        search_nodes(*_nodes(engines=False), 1)


STOPPED = """
import os, signal, sys, time
from paretosoc.dse.compile import __main__ as compiling

def wait():
    print("part", flush=True)
    time.sleep(3600)

def stop():
    print("part", flush=True)
    os.kill({target}, signal.{name})
    time.sleep(3600)

compiling.PARTS = {{"a": stop, **dict.fromkeys("bcdefghij", wait)}}
compiling.os.cpu_count = lambda: 2
sys.argv[1:] = []
compiling.main()
"""


@pytest.mark.parametrize(
    ("target", "name"),
    [("0", "SIGINT"), ("os.getppid()", "SIGTERM"), ("os.getpid()", "SIGKILL")],
)
def test_no_process_goes_on_compiling_after_a_signal(target, name):
    """Ctrl-C to all of the group, the end of the command alone, and of one of its processes."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED.format(target=target, name=name)],
        cwd=ROOT,
        start_new_session=True,
        capture_output=True,
        text=True,
        # Until all have closed their outputs.
        timeout=100,
        check=False,
    )
    assert done.returncode != 0
    assert 1 <= done.stdout.count("part") <= 2
