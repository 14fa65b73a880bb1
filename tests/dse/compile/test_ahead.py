"""What documented commands run is compiled ahead by ``python -m paretosoc.dse.compile``."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from paretosoc.dse.cli.main import run
from paretosoc.dse.compile.warm_up import warm_up
from paretosoc.fitness.machine_code.kernel import Kernel

seen, load = set(), Kernel._load

def note(kernel, key, arguments):
    seen.add(f"{kernel.py_func.__module__}.{kernel.__name__}: {key}")
    return load(kernel, key, arguments)

Kernel._load = note
warm_up()
ahead = set(seen)
*explore, folder = sys.argv[1:]
few = ["--max-evaluations", "300", "--time-limit", "2", "--jobs", "1", "-q", "-o", folder]
assert run([*explore, *few]) == 0
# Variants of a workload have folders of their own.
folder = str(min(Path(folder).rglob("front.json")).parent)
assert run(["certify", folder, "--time-limit", "1", "--jobs", "1", "-q"]) == 0
assert run(["verify", folder]) == run(["show", folder, "--member", "knee"]) == 0
assert seen == ahead, seen - ahead
"""


def commands() -> list[str]:
    """Return the explorations of the README and of the example workloads, as they say."""
    pages = [ROOT / "README.md", *sorted((ROOT / "examples" / "workloads").glob("*.yaml"))]
    joined = [re.sub(r"\\\n#? *", "", page.read_text(encoding="utf-8")) for page in pages]
    found = re.findall(r"^#? +dse (explore .+)$", "\n".join(joined), re.MULTILINE)
    own = r" --max-evaluations \S+| -o \S+"
    return [re.sub(own, "", line) for line in found if ".onnx" not in line]


def test_all_example_workloads_say_a_command():
    assert len(commands()) == 8


@pytest.mark.parametrize("command", commands())
def test_nothing_is_compiled_for_a_documented_command(command, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *shlex.split(command), tmp_path / "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
