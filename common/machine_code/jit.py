"""Kernels of functions, and the folders of their machine code.

Machine code is named after a hash over all files of this program that the kernel's module imports
and that define how it is compiled, since it inlines functions and constants of other files.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from paretosoc.common.cache import kernel_folder
from paretosoc.common.machine_code.kernel import Kernel

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
COMPILER = tuple(HERE / name for name in ("jit.py", "functions.py", "link.py"))
"""Files that define how all kernels are compiled."""
_IMPORT = re.compile(rb"^(?:from|import) (paretosoc(?!\.common\.documents)[\w.]+)", re.MULTILINE)
"""Readers and schemas of documents are in no machine code."""


def make_kernel(
    function: Callable[..., Any], types: tuple[str, ...] = (), **options: Any
) -> Kernel:
    """Make a kernel of a function that allocates nothing.

    Args:
        function: it may return nothing, or one integer, bool or float.
        types: modules that tell numba the types of further arguments.
        options: numba's.
    """
    module = Path(sys.modules[function.__module__].__file__ or "")
    return Kernel(
        function,
        state=partial(state_of, module, types),
        folder=partial(cache_folder, module, types),
        jit=partial(_dispatcher, types=types, **options),
    )


def _dispatcher(function: Callable[..., Any], types: tuple[str, ...], **options: Any) -> Any:
    # Imported here: numba takes half a second, and libraries do not need it.
    from paretosoc.common.machine_code.functions import KernelDispatcher

    for name in types:
        import_module(name)
    # Without _nrt=False every access to an array counts references, atomically. Nothing is
    # allocated, so nothing needs counting.
    return KernelDispatcher(function, nogil=True, error_model="numpy", _nrt=False, **options)


@cache
def _read(source: Path) -> tuple[bytes, frozenset[Path]]:
    """Return a hash of a source file, and the program's files that its top level imports."""
    text = source.read_bytes()
    paths = frozenset(
        path for match in _IMPORT.findall(text) if (path := _file_of(match.decode())).exists()
    )
    return hashlib.sha256(text).digest(), paths


def _file_of(module: str) -> Path:
    return ROOT / f"{module.replace('.', '/')}.py"


def sources_of(module: Path, types: tuple[str, ...] = ()) -> frozenset[Path]:
    """Return a module's file and all files of this program that it imports, directly or not.

    The files that define how it is compiled are included.
    """
    found: set[Path] = set()
    todo = [module, *COMPILER, *map(_file_of, types)]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo.extend(_read(path)[1])
    return frozenset(found)


@cache
def state_of(module: Path, types: tuple[str, ...] = ()) -> str:
    """Return a name for the state of a module's sources, which its machine code is kept under."""
    hashes = b"".join(_read(path)[0] for path in sorted(sources_of(module, types)))
    return f"jit-{module.stem}-{hashlib.sha256(hashes).hexdigest()[:16]}"


@cache
def cache_folder(module: Path, types: tuple[str, ...] = ()) -> Path:
    """Return the folder of a module's machine code on this machine."""
    return kernel_folder(HERE, state_of(module, types))
