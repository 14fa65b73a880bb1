"""How the kernels are compiled, and where the machine code is kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

HERE = Path(__file__).parent
COMPILED_IN = (
    HERE / "jit.py",
    HERE / "branching.py",
    HERE / "chain_state.py",
    HERE / "many_chains_state.py",
    HERE / "plan.py",
    HERE / "search_space.py",
    HERE / "timeline_state.py",
    *sorted(HERE.glob("*_kernel.py")),
    HERE.parent / "results" / "pipeline_model.py",
    HERE.parent / "results" / "problem.py",
)
"""Files whose code or constants end up in the machine code."""


def _cache_folder() -> Path:
    """A folder of its own for every state of the sources.

    numba looks only at the file of the function that it loads, so machine code that has swallowed a
    function or a constant of another file would stay when that other file changes.
    """
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in COMPILED_IN)).hexdigest()
    name = f"jit-{digest[:16]}"
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"]) / name
    beside = HERE / "__pycache__"
    if os.access(beside if beside.exists() else HERE, os.W_OK):
        return beside / name
    home = os.environ.get("XDG_CACHE_HOME")
    root = Path(home) if home else Path.home() / ".cache"
    if not os.access(root if root.exists() else root.parent, os.W_OK):
        root = Path(tempfile.gettempdir())
    return root / "paretosoc" / name


_FOLDER = str(_cache_folder())


def jit(function: Callable[..., Any]) -> Any:
    """Compiles a function of arrays and named tuples of arrays that allocates nothing.

    Without ``_nrt=False`` every access to an array in a named tuple counts references, atomically:
    ten times slower. Nothing here allocates, so nothing needs counting. ``forceinline``, because a
    call copies the descriptors of all arrays.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _FOLDER
    try:
        return numba.njit(
            cache=True, nogil=True, error_model="numpy", forceinline=True, _nrt=False
        )(function)
    finally:
        numba.config.CACHE_DIR = before
