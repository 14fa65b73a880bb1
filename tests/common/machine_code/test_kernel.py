"""Libraries say what numba says, are whole or not there, and are loaded from no foreign place."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from numba import types

from paretosoc.common.machine_code import kernel as machine_code
from paretosoc.common.machine_code.kernel import Kernel, packaged_folders
from paretosoc.dse.compile.warm_up import PARTS
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.tables import CACHE_LINE, LANES, Tables
from tests.common.machine_code import lanes
from tests.fitness.test_jit import CALL, COMPILED, LOADED, make_package, package, run  # noqa: F401


@jit
def weigh(table, scale, count, inverse, out):
    """All that is passed and returned: any layout, a float, an int, a bool."""
    total = 0.0
    for i in range(table.shape[0]):
        for j in range(min(count, table.shape[1])):
            out[i] += np.int64(table[i, j])
            total += table[i, j] / scale if inverse else table[i, j] * scale
    return total


@jit
def is_above(numbers, least):
    """Return a bool."""
    return numbers[0] > least


@jit
def prints(number):
    """What is written is made of objects of Python."""
    print(number)


@pytest.mark.parametrize("inverse", [False, np.bool_(True)])
@pytest.mark.parametrize("count", [2, np.int64(3)])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "read-only", "empty"])
def test_every_layout_of_an_array_is_read_as_numpy_has_it(layout, count, inverse) -> None:
    table = np.random.default_rng(1).random((4, 6)) * 100
    shown = {
        "rows": table,
        "columns": np.asfortranarray(table),
        "strided": table[::-2, 1::2],
        "read-only": table.view(),
        "empty": table[:0],
    }[layout]
    shown.flags.writeable = layout != "read-only"
    out = np.zeros(len(shown), dtype=np.int64)
    total = weigh(shown, np.float64(0.7), count, inverse, out)
    part = shown[:, :count]
    assert type(total) is float
    assert total == pytest.approx((part / 0.7 if inverse else part * 0.7).sum())
    assert out.tolist() == part.astype(np.int64).sum(axis=1).tolist()


def test_a_bool_comes_back_as_one() -> None:
    assert is_above(np.array([3]), 2) is True
    assert is_above(np.array([3]), 3) is False


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, np.uint64(1 << 63)])
def test_an_integer_of_more_than_64_bits_is_refused(number) -> None:
    with pytest.raises((OverflowError, AttributeError)):
        is_above(np.array([3]), number)


def copied(argument, done):
    """A copy; arrays that share memory do so in the copies, too."""
    if isinstance(argument, Tables):
        values = {field.name: getattr(argument, field.name) for field in fields(argument)}
        return type(argument)(**{name: copied(value, done) for name, value in values.items()})
    if not isinstance(argument, np.ndarray):
        return argument
    root = argument
    while isinstance(root.base, np.ndarray):
        root = root.base
    first = root.ctypes.data
    if first not in done:
        # Vector instructions rely on where records begin.
        memory = np.empty(root.nbytes + CACHE_LINE, dtype=np.uint8)
        start = (first - memory.ctypes.data) % CACHE_LINE
        memory[start : start + root.nbytes] = np.frombuffer(root.tobytes(), dtype=np.uint8)
        done[first] = memory[start:]
    same = np.ndarray(
        *(argument.shape, argument.dtype, done[first], argument.ctypes.data - first),
        strides=argument.strides,
    )
    return same.view(type(argument))


def bytes_of(argument):
    if isinstance(argument, Tables):
        return [bytes_of(getattr(argument, field.name)) for field in fields(argument)]
    return argument.tobytes() if isinstance(argument, np.ndarray) else argument


NOT_IN_PYTHON = {"search_nodes", "evaluate_chains", "evaluate_many", "simulate_shown"}
"""Kernels whose text means something else outside compiled code, as where a field of a record is a
number there and a view of it in Python. Only other tests compare them."""
_MODULES: dict[int, dict[str, object]] = {}


def in_python(kernel):
    """A kernel as a function of Python, with all that it calls."""
    names = kernel.py_func.__globals__
    if id(names) not in _MODULES:
        made = _MODULES[id(names)] = dict(names)
        made |= {n: in_python(value) for n, value in names.items() if isinstance(value, Kernel)}
    return FunctionType(kernel.py_func.__code__, _MODULES[id(names)], kernel.__name__)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("part", PARTS)
def test_every_kernel_says_the_same_by_its_library_and_in_python(part, monkeypatch) -> None:
    call, names = Kernel.__call__, set()

    def both(self, *arguments):
        done = {}
        again = [copied(argument, done) for argument in arguments]
        result = call(self, *arguments)
        if self.__name__ not in NOT_IN_PYTHON:
            assert in_python(self)(*again) == result, self.__name__
            for one, other in zip(arguments, again, strict=True):
                assert bytes_of(one) == bytes_of(other), self.__name__
            names.add(self.__name__)
        return result

    monkeypatch.setattr(Kernel, "__call__", both)
    PARTS[part]()
    assert names


def test_vectors_outside_compiled_code_are_arrays() -> None:
    numbers = np.random.default_rng(2).integers(-20, 20, 2 * LANES)
    condition = np.zeros(LANES, dtype=np.int64)
    condition[[3, 9]] = 1
    real = np.linspace(0.3, 2.0, LANES)
    made = lanes.Columns(numbers.copy(), condition, real)
    assert lanes.in_lanes(made) == 3
    plain = lanes.Columns(numbers.copy(), condition, real)
    assert lanes.in_lanes.py_func(plain) == 3
    assert made.numbers.tolist() == plain.numbers.tolist() != numbers.tolist()


LINKER = """#!{python}
import os, pathlib, signal
pathlib.Path("code.so").write_bytes(b"half")
os.kill(os.getppid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_leaves_no_library(package: Path, tmp_path: Path) -> None:  # noqa: F811
    linker = tmp_path / "cc"
    linker.write_text(LINKER.format(python=sys.executable))
    linker.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "CC": str(linker), "NUMBA_CACHE_DIR": ""},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert not list(tmp_path.rglob("*.so"))
    assert run(CALL, tmp_path, NUMBA_CACHE_DIR="").split() == ["30", COMPILED]
    assert run(CALL, tmp_path, NUMBA_CACHE_DIR="").split() == ["30", LOADED]


@pytest.mark.parametrize("linker", ["/nowhere/cc", "false"])
def test_without_a_linker_object_files_are_kept(
    package: Path,  # noqa: F811
    tmp_path: Path,
    linker: str,
) -> None:
    for how in (COMPILED, LOADED):
        assert run(CALL, tmp_path, NUMBA_CACHE_DIR="", CC=linker).split() == ["30", how]
    assert not list(tmp_path.rglob("*.so"))
    assert len(list(tmp_path.rglob("*.o"))) == 1


def test_an_object_file_is_kept_for_a_library_that_cannot_be_loaded(
    package: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    """As on a file system from which nothing runs."""
    linker = tmp_path / "cc"
    linker.write_text(f"#!{sys.executable}\nopen('code.so', 'wb').write(b'half')\n")
    linker.chmod(0o755)
    for how in (COMPILED, LOADED):
        assert run(CALL, tmp_path, NUMBA_CACHE_DIR="", CC=str(linker)).split() == ["30", how]


@pytest.mark.parametrize("size", [0, 100])
@pytest.mark.parametrize("linker", ["cc", "false"])
def test_a_broken_file_is_replaced(
    package: Path,  # noqa: F811
    tmp_path: Path,
    linker: str,
    size: int,
) -> None:
    """As after a loss of power: a library, or without a linker an object file."""
    run(CALL, tmp_path, NUMBA_CACHE_DIR="", CC=linker)
    (file,) = (path for path in tmp_path.rglob("*") if path.suffix in (".so", ".o"))
    file.write_bytes(file.read_bytes()[:size])
    for how in (COMPILED, LOADED):
        assert run(CALL, tmp_path, NUMBA_CACHE_DIR="", CC=linker).split() == ["30", how]


def test_what_numba_compiles_is_not_called() -> None:
    is_above.dispatcher.compile((types.Array(types.float64, 1, "C"), types.float64))
    with pytest.raises(RuntimeError, match="is_above has no machine code"):
        is_above.dispatcher(np.ones(1), 2.0)


def test_a_kernel_that_needs_numba_when_it_runs_is_refused() -> None:
    with pytest.raises(TypeError, match=r"prints must not need \w+ when it runs"):
        prints(1)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of a wheel, for processors of the lowest level."""
    root = tmp_path_factory.mktemp("wheel")
    folder = make_package(root).parent / "common" / "machine_code" / "libraries"
    level = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"}
    run(CALL, root, NUMBA_CACHE_DIR=str(folder), **level)
    return folder


@pytest.fixture
def packaged(package: Path, libraries: Path) -> Path:  # noqa: F811
    """The package with that library, and nothing compiled here."""
    return Path(
        shutil.copytree(libraries, package.parent / "common" / "machine_code" / "libraries")
    )


ONLY_X86 = pytest.mark.skipif(
    machine_code.platform.machine() not in ("x86_64", "AMD64"), reason="levels of x86-64"
)


@ONLY_X86
def test_a_library_of_the_wheel_is_loaded(packaged: Path, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "own")
    # Bytecode of a source that is changed within a second and keeps its size would be taken.
    first = run(CALL, tmp_path, NUMBA_CACHE_DIR=elsewhere, PYTHONDONTWRITEBYTECODE="1")
    assert first.split() == ["30", LOADED]
    assert not (tmp_path / "own").exists(), "no folder is made for what is there"
    limits = packaged.parents[2] / "fitness" / "limits_kernel.py"
    limits.write_text("LIMIT = 5\n")
    assert run(CALL, tmp_path, NUMBA_CACHE_DIR=elsewhere).split() == ["50", COMPILED]


@ONLY_X86
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("foreign", [False, True])
def test_a_library_that_others_can_write_is_not_trusted(
    libraries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int, foreign: bool
) -> None:
    monkeypatch.setattr(machine_code, "PACKAGED", shutil.copytree(libraries, tmp_path / "own"))
    (library,) = machine_code.PACKAGED.rglob("*.so")
    level, state, *_ = library.parents
    assert packaged_folders.__wrapped__(state.name) == [level]
    place = (library, *library.parents)[depth]
    if foreign:
        if os.geteuid():
            pytest.skip("root alone gives files away")
        os.chown(place, 65534, 65534)
    else:
        place.chmod(0o777)
    assert packaged_folders.__wrapped__(state.name) == []


@ONLY_X86
def test_a_library_that_is_not_trusted_is_not_loaded(packaged: Path, tmp_path: Path) -> None:
    packaged.chmod(0o777)
    elsewhere = str(tmp_path / "own")
    assert run(CALL, tmp_path, NUMBA_CACHE_DIR=elsewhere).split() == ["30", COMPILED]


@ONLY_X86
@pytest.mark.parametrize(
    ("missing", "levels"),
    [
        ("", ["x86-64-v4", "x86-64-v3", "x86-64"]),
        ("avx512vl", ["x86-64-v3", "x86-64"]),
        ("bmi2", ["x86-64"]),
    ],
)
def test_only_levels_that_the_processor_has_are_taken(
    tmp_path, monkeypatch, missing, levels
) -> None:
    has = set(" ".join(machine_code._LEVELS.values()).split()) - {missing}
    monkeypatch.setattr(machine_code, "_features", lambda: frozenset(has))
    monkeypatch.setattr(machine_code, "PACKAGED", tmp_path)
    monkeypatch.setattr(machine_code, "_levels", machine_code._levels.__wrapped__)
    for level in machine_code._LEVELS:
        (tmp_path / "state" / level).mkdir(parents=True)
    found = packaged_folders.__wrapped__("state")
    assert [folder.name for folder in found] == levels
