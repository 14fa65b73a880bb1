"""Machine code is never older than its sources, and says the same in every process and thread."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.problems.random_problem import RandomShape, random_problem
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common import cache
from paretosoc.common.machine_code import jit
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.fitness.simulator import heap
from paretosoc.fitness.simulator.jit import TYPES
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.problem import Problem

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "paretosoc"
INNER = """
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.limits_kernel import LIMIT


@jit
def inner(x):
    return min(x, LIMIT)
"""
OUTER = """
from paretosoc.fitness.inner_kernel import inner
from paretosoc.fitness.simulator.jit import jit


@jit
def outer(x):
    return 10 * inner(x)
"""


def run(code: str, folder: Path, **environment: str) -> str:
    """What a fresh process prints that takes the packages from ``folder``."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CALL = """
import sys
from paretosoc.fitness.outer_kernel import outer
print(outer(7), 'numba' in sys.modules, end=' ')
"""
COMPILED, LOADED = "True", "False"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


def make_package(tmp_path: Path) -> Path:
    """Two kernels, of which one calls the other, and what compiles them."""
    decorator = SOURCES / "fitness" / "simulator" / "jit.py"
    for source in [*jit.sources_of(decorator, TYPES), SOURCES / "common" / "compiling.py"]:
        (tmp_path / source.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, tmp_path / source.relative_to(ROOT))
    for folder in (
        "fitness",
        "fitness/simulator",
        "fitness/simulator/types",
        "common",
        "common/machine_code",
    ):
        (tmp_path / "paretosoc" / folder / "__init__.py").touch()
    (tmp_path / "paretosoc" / "__init__.py").touch()
    fitness = tmp_path / "paretosoc" / "fitness"
    (fitness / "inner_kernel.py").write_text(INNER)
    (fitness / "outer_kernel.py").write_text(OUTER)
    (fitness / "limits_kernel.py").write_text("LIMIT = 3\n")
    return fitness


def test_machine_code_follows_functions_and_constants_of_other_files(
    package: Path, tmp_path: Path
) -> None:
    """Code of ``outer`` is not kept when only what it inlined has changed."""
    limits, code = package / "limits_kernel.py", CALL
    assert run(code, tmp_path, NUMBA_CACHE_DIR="").split() == ["30", COMPILED]
    assert run(code, tmp_path, NUMBA_CACHE_DIR="").split() == ["30", LOADED]
    limits.write_text("LIMIT = 5\n")
    assert run(code, tmp_path, NUMBA_CACHE_DIR="").split() == ["50", COMPILED]
    (package / "inner_kernel.py").write_text(INNER.replace("min(x", "max(x"))
    assert run(code, tmp_path, NUMBA_CACHE_DIR="").split() == ["70", COMPILED]
    limits.write_text("LIMIT = 3\n")
    (package / "inner_kernel.py").write_text(INNER)
    assert run(code, tmp_path, NUMBA_CACHE_DIR="").split()[0] == "30"


def kernels() -> list[Path]:
    """All files with functions that are compiled by ``jit``."""
    files = (path for room in SOURCES.iterdir() for path in room.rglob("*.py"))
    return sorted(path for path in files if "\n@jit\n" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", kernels(), ids=lambda path: path.stem)
def test_all_that_a_kernel_imports_is_among_its_sources(module: Path) -> None:
    """The scan of import lines against the syntax trees, followed through our modules."""
    types = [ROOT / (name.replace(".", "/") + ".py") for name in TYPES]
    todo = [module, *jit.COMPILER, *types]
    found: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert not any(name.name.split(".")[0] == "paretosoc" for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                module_name = node.module or ""
                assert node.level == 0
                # No machine code depends on how documents are read.
                is_reader = module_name.startswith("paretosoc.common.documents")
                if module_name.split(".")[0] == "paretosoc" and not is_reader:
                    source = ROOT / (module_name.replace(".", "/") + ".py")
                    assert source.exists(), f"{path}: kernels import modules, not packages"
                    todo.append(source)
    assert found == jit.sources_of(module, TYPES)


def test_a_folder_that_cannot_be_written_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module = Path(heap.__file__)
    beside = jit.cache_folder.__wrapped__(module)
    assert beside.parent == SOURCES / "common" / "machine_code" / "__pycache__"
    home = os.access

    def access(path: Path, mode: int) -> bool:
        return ROOT not in Path(path).parents and home(path, mode)

    monkeypatch.setattr(os, "access", access)
    found = jit.cache_folder.__wrapped__
    assert found(module) == tmp_path / "paretosoc" / beside.name
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert found(module) == tmp_path / "own" / beside.name


PLANTED = """
import os, pathlib, pickle, sys

class Planted:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path(sys.argv[1]),)

for path in pathlib.Path(sys.argv[2]).rglob("*"):
    if path.suffix in (".o", ".so"):
        path.write_bytes(pickle.dumps(Planted()))
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    elif path.is_dir():
        path.chmod(0o777)
"""
NOWHERE = """
import os, pathlib, tempfile
real = os.access
def access(path, mode):
    return "shared" in str(path) and real(path, mode)
os.access = access
"""


def test_no_cache_is_read_that_others_can_write(package: Path, tmp_path: Path) -> None:
    """A pickle in a predictable folder of the shared temporary one, by another user."""
    shared, planted = tmp_path / "shared", tmp_path / "planted"
    cache = shared / "paretosoc"
    assert run(CALL, tmp_path, NUMBA_CACHE_DIR=str(cache)).split() == ["30", COMPILED]
    assert run(CALL, tmp_path, NUMBA_CACHE_DIR=str(cache)).split() == ["30", LOADED]
    subprocess.run([sys.executable, "-c", PLANTED, planted, cache], check=True)
    shared.chmod(0o1777)
    places = {"TMPDIR": str(shared), "HOME": "/dev/null", "XDG_CACHE_HOME": ""}
    for chosen in ("", str(cache)):
        before = set(shared.iterdir())
        code = NOWHERE + CALL
        assert run(code, tmp_path, **places, NUMBA_CACHE_DIR=chosen).split() == ["30", COMPILED]
        assert not planted.exists()
        assert set(shared.iterdir()) == before, "the folder of the process is removed at its end"


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", None])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o722])
def test_a_cache_with_open_folders_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None, mode: int
) -> None:
    """Beside the sources, in the user's cache, in the one of the variable: the folder itself, what
    is in it, and what it is in; a sticky one may be above it."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    root = tmp_path / "above" / ("__pycache__" if variable is None else "paretosoc")
    if variable is not None:
        chosen = root.parent if variable == "XDG_CACHE_HOME" else root
        monkeypatch.setenv(variable, str(chosen))
    sources = root.parent if variable is None else tmp_path / "sources"
    if variable is not None:
        sources.mkdir()
        (sources / "__pycache__").touch()
    kernel = root / "kernel"
    (kernel / "inside").mkdir(parents=True)
    (kernel / "inside" / "file").touch()
    assert cache.kernel_folder(sources, "kernel") == kernel
    own = tmp_path / "own"
    monkeypatch.setattr(cache, "_process_folder", lambda: own)
    for path in (root, kernel, kernel / "inside", kernel / "inside" / "file"):
        before = path.stat().st_mode
        # A group of many is as bad as everybody.
        monkeypatch.setattr(cache, "_own_group", lambda: -1)
        path.chmod(mode)
        assert cache.kernel_folder(sources, "kernel") == own / "kernel"
        path.chmod(before)
    assert cache.kernel_folder(sources, "kernel") == kernel
    root.parent.chmod(mode)
    kept = variable is None or mode == 0o1777
    assert cache.kernel_folder(sources, "kernel") == (kernel if kept else own / "kernel")


def test_a_cache_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    kernel = cache.kernel_folder(tmp_path, "kernel")
    assert kernel == tmp_path / "cache" / "kernel"
    monkeypatch.setattr(cache, "_process_folder", lambda: tmp_path / "own")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    if os.getuid():
        assert cache.kernel_folder(tmp_path, "kernel") == tmp_path / "own" / "kernel"
    else:
        # What is root's is trusted.
        os.chown(tmp_path / "cache", 65534, 65534)
        assert cache.kernel_folder(tmp_path, "kernel") == tmp_path / "own" / "kernel"


def rows_of(problem: Problem, count: int) -> NDArray[np.int64]:
    """Random rows, also some that put a group where it cannot run."""
    rng = np.random.default_rng(5)
    units = rng.integers(0, len(problem.units), (count, problem.group_count))
    points = [rng.integers(0, len(d.frequencies_khz), count) for d in problem.domains]
    return np.concatenate([units, np.stack(points, axis=1)], axis=1)


def shared_problem() -> Problem:
    """Of middling size, with everything that the timeline knows."""
    shape = RandomShape(networks=(4, 4), groups=(4, 6), units=(3, 3), unsupported=0.01)
    return random_problem(np.random.default_rng(11), shape)


@pytest.mark.parametrize("jobs", [2, 3, 8])
@pytest.mark.parametrize("stated", [reference_problem(), shared_problem()], ids=["small", "large"])
def test_threads_change_no_bit(stated: Problem, jobs: int) -> None:
    rows = rows_of(stated, 1001)
    one, several = make_evaluator(stated)(rows), make_evaluator(stated, jobs=jobs)(rows)
    assert one.possible.any()
    for name in ("possible", "makespan_ps", "latency_ps", "dynamic_fj", "busy_ps", "idle_mw"):
        assert np.array_equal(getattr(one, name), getattr(several, name)), name
    assert (one.makespan_ps[one.possible] > 0).all()
    endless = replace(stated, execution=Pipeline(1))
    piped, shared = make_long_run_evaluator(endless), make_long_run_evaluator(endless, jobs=jobs)
    alone, together = piped(rows), shared(rows)
    for name, values in vars(alone).items():
        assert np.array_equal(values, getattr(together, name)), name


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_fewer_rows_than_threads(rows: int) -> None:
    stated = reference_problem()
    chosen = rows_of(stated, 2)[:rows]
    result = make_evaluator(stated, jobs=4)(chosen)
    assert result.makespan_ps.tolist() == make_evaluator(stated)(chosen).makespan_ps.tolist()
    assert len(result.makespan_ps) == rows


def digest(stated: Problem) -> str:
    """Of all that the evaluator says about a thousand rows."""
    result = make_evaluator(stated)(rows_of(stated, 1000))
    arrays = (result.possible, result.makespan_ps, result.latency_ps, result.energy_fj)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def test_a_fresh_process_says_the_same() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_jit import digest, shared_problem\n"
        "print(digest(shared_problem()))"
    )
    assert run(code, ROOT) == digest(shared_problem())
