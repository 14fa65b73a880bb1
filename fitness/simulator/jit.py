"""Kernels, how they are compiled, and the folders of their machine code."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from paretosoc.common.cache import kernel_folder
from paretosoc.fitness.machine_code.kernel import Kernel

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
COMPILER = (
    *(HERE / name for name in ("jit.py", "types/table_types.py", "types/vector_types.py")),
    *(HERE.parent / "machine_code" / name for name in ("functions.py", "link.py")),
)
"""Files that define how all kernels are compiled."""
_IMPORT = re.compile(rb"^(?:from|import) (paretosoc(?!\.common\.documents)[\w.]+)", re.MULTILINE)
"""Readers and schemas of documents are in no machine code."""


@cache
def _read(source: Path) -> tuple[bytes, frozenset[Path]]:
    """Return a hash of a source file, and the program's files that its top level imports."""
    text = source.read_bytes()
    names = {match.decode().replace(".", "/") for match in _IMPORT.findall(text)}
    paths = frozenset(path for name in names if (path := ROOT / f"{name}.py").exists())
    return hashlib.sha256(text).digest(), paths


def sources_of(module: Path) -> frozenset[Path]:
    """Return a module's file and all files of this program that it imports, directly or not.

    The files that define how all of them are compiled are included.
    """
    found: set[Path] = set()
    todo = [module, *COMPILER]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo.extend(_read(path)[1])
    return frozenset(found)


@cache
def state_of(module: Path) -> str:
    """Return a name for the state of a module's sources, which its machine code is kept under.

    Machine code inlines functions and constants of other files.
    """
    hashes = b"".join(_read(path)[0] for path in sorted(sources_of(module)))
    return f"jit-{module.stem}-{hashlib.sha256(hashes).hexdigest()[:16]}"


@cache
def cache_folder(module: Path) -> Path:
    """Return the folder of a module's machine code on this machine."""
    return kernel_folder(HERE, state_of(module))


def jit(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function that allocates nothing.

    Without ``_nrt=False`` every access to an array counts references, atomically. Nothing here
    allocates, so nothing needs counting. Without ``forceinline`` small problems take 1.4 times as
    long.
    """
    return _kernel(function, forceinline=True)


def rare(function: Callable[..., Any]) -> Kernel:
    """Make a kernel that few problems need once, instead of at each place that calls it."""
    return _kernel(function)


def _kernel(function: Callable[..., Any], **options: Any) -> Kernel:
    module = Path(sys.modules[function.__module__].__file__ or "")
    return Kernel(
        function,
        state=partial(state_of, module),
        folder=partial(cache_folder, module),
        jit=partial(_dispatcher, **options),
    )


def _dispatcher(function: Callable[..., Any], **options: Any) -> Any:
    # Imported for what they register: numba takes half a second, and libraries do not need it.
    from paretosoc.fitness.machine_code.functions import KernelDispatcher
    from paretosoc.fitness.simulator.types import table_types, vector_types  # noqa: F401

    return KernelDispatcher(function, nogil=True, error_model="numpy", _nrt=False, **options)
