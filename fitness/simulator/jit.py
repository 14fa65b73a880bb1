"""Compilation of the kernels, and the folders of their machine code."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from paretosoc.common.cache import compiled, kernel_folder

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
_IMPORT = re.compile(rb"^(?:from|import) (paretosoc[\w.]+)", re.MULTILINE)


@cache
def _imported(source: Path) -> frozenset[Path]:
    """Return the files of this program that a source file imports at its top level."""
    names = {match.decode().replace(".", "/") for match in _IMPORT.findall(source.read_bytes())}
    return frozenset(path for name in names if (path := ROOT / f"{name}.py").exists())


def sources_of(module: Path) -> frozenset[Path]:
    """Return a module's file and all files of this program that it imports, directly or not.

    The files that define how all of them are compiled are included.
    """
    found: set[Path] = set()
    todo = [module, HERE / "jit.py", HERE / "table_types.py"]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo.extend(_imported(path))
    return frozenset(found)


@cache
def cache_folder(module: Path) -> Path:
    """Return the folder of a module's machine code, a different one for every state of its sources.

    numba compares only the file of the function that it loads. Machine code that has inlined a
    function or a constant of another file would be kept when that other file changes.
    """
    sources = sorted(sources_of(module))
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
    name = f"jit-{module.stem}-{digest[:16]}"
    return kernel_folder(HERE, name)


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function that allocates nothing.

    Without ``_nrt=False`` every access to an array counts references, atomically. Nothing here
    allocates, so nothing needs counting. Without ``forceinline`` small problems take 1.4 times as
    long.
    """
    return _compiled(function, forceinline=True)


def rare(function: Callable[..., Any]) -> Any:
    """Compile a function that few problems need once, instead of at each place that calls it."""
    return _compiled(function)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    folder = cache_folder(Path(sys.modules[function.__module__].__file__ or ""))
    return compiled(function, folder, nogil=True, error_model="numpy", _nrt=False, **options)
