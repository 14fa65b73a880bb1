"""What documented commands run is compiled ahead by ``python -m paretosoc.dse.compile``."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import shlex
import sys
from pathlib import Path
from paretosoc.dse.cli.main import run
from paretosoc.dse.compile.warm_up import warm_up
from paretosoc.dse.api.views import sureness
from paretosoc.common.machine_code.kernel import Kernel

seen, load = set(), Kernel._load

def note(kernel, key, arguments):
    seen.add(f"{kernel.py_func.__module__}.{kernel.__name__}: {key}")
    return load(kernel, key, arguments)

sureness._QUICK_DRAWS = sureness._FREE_RUNNING_DRAWS = 10
Kernel._load = note
warm_up()
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
from paretosoc.dse.cli.main import run
sys.exit(run(["baselines", "alexnet", "-p", "jetson-nano"]))
"""


def test_without_numba_a_kernel_that_is_missing_says_what_to_install(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "empty")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'paretosoc[compile]'" in done.stderr
    assert "Traceback" not in done.stderr
