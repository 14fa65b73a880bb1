"""Kernels: functions whose machine code is linked once for each signature, and then only loaded.

A library holds one kernel for one signature. The name of its file says both, the names of its
folders the state of the sources and the processor. Neither numba nor LLVM is imported unless a
library is missing.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import threading
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.common.arrays import HEAD
from paretosoc.common.cache import is_trusted
from paretosoc.common.unfinished import unfinished

PACKAGED = Path(__file__).with_name("libraries")
"""Folder of the libraries of a wheel: [state of the sources, level of the processor]."""
RESULTS: dict[str, Any] = {
    "none": None,
    "bool": ctypes.c_bool,
    "int64": ctypes.c_int64,
    "float64": ctypes.c_double,
}
"""What kernels return. A library's function is named after it."""

_SCALARS: dict[type, type] = {
    int: int,
    np.int64: int,
    float: float,
    np.float64: float,
    bool: bool,
    np.bool_: bool,
}
_PARAMETERS: dict[Any, Any] = {int: ctypes.c_int64, float: ctypes.c_double, bool: ctypes.c_bool}
_ARRAYS = (np.ndarray, np.recarray)
_LEVELS = {
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
    "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe",
    "x86-64": "",
}
"""Levels of processors, the best first, by what they have more than the next."""
_LOADING = threading.RLock()


class Kernel:
    """A compiled function. Other compiled functions call its code, Python a library."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        state: Callable[[], str],
        folder: Callable[[], Path],
        jit: Callable[[Callable[..., Any]], Any],
    ) -> None:
        """Make a kernel, without compiling anything.

        Args:
            function: what is compiled.
            state: returns a name for the state of its sources.
            folder: returns the folder of its machine code on this machine.
            jit: makes from it what numba compiles.
        """
        self.py_func = function
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.loaded: dict[tuple[object, ...], Callable[..., Any]] = {}
        """By signature."""
        self._state, self._folder, self._jit = state, folder, jit

    @cached_property
    def dispatcher(self) -> Any:
        """Return what numba compiles."""
        return self._jit(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """Return what kernels that call this one are compiled with."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code, and build it first if there is none."""
        key, words = _passed(arguments)
        if key not in self.loaded:
            with _LOADING:
                if key not in self.loaded:
                    self.loaded[key] = self._load(key, arguments)
        return self.loaded[key](*words)

    def is_built(self, *arguments: Any) -> bool:
        """Return whether there is machine code for arguments of these types."""
        paths = self._paths(_passed(arguments)[0])
        return any(path.exists() or path.with_suffix(".o").exists() for path in paths)

    def _paths(self, key: tuple[object, ...]) -> Iterator[Path]:
        """Yield the places of a library, the first to be preferred. It is built in the last."""
        name = f"{self.py_func.__name__}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.so"
        for folder in packaged_folders(self._state()):
            yield folder / name
        yield self._folder() / processor() / name

    def _load(self, key: tuple[object, ...], arguments: tuple[Any, ...]) -> Any:
        for path in self._paths(key):
            if path.exists() and (function := _function(path, key)):
                return function
        unlinked = path.with_suffix(".o")
        # Imported here: numba takes half a second, and most processes find all libraries.
        try:
            if unlinked.exists() and (function := _function_in_memory(unlinked, key)):
                return function
            from paretosoc.common.machine_code.link import link, object_code
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("numba", "llvmlite"):
                raise
            # Imported here: machine code depends on all that this module imports.
            from paretosoc.common.errors import DseError

            raise DseError(
                "machine code for this kind of problem must be compiled, which needs numba: "
                "pip install 'paretosoc[compile]'"
            ) from None
        code = object_code(self.dispatcher, arguments)
        path.parent.mkdir(parents=True, exist_ok=True)
        if link(code, path) and (function := _function(path, key)):
            return function
        with unfinished(unlinked) as part:
            part.write_bytes(code)
            part.rename(unlinked)
        return _function_in_memory(unlinked, key)


@cache
def packaged_folders(state: str) -> list[Path]:
    """Return the folders of a wheel that hold libraries for a state of the sources and this
    processor, the first to be preferred."""
    folders = [PACKAGED / state / level for level in _levels()]
    return [folder for folder in folders if is_trusted(folder)]


@cache
def processor() -> str:
    """Return a name for what machine code for this processor depends on.

    It is ``NUMBA_CPU_NAME`` if that is set, for which numba compiles then.
    """
    digest = hashlib.sha256(" ".join(sorted(_features())).encode()).hexdigest()
    return os.environ.get("NUMBA_CPU_NAME") or f"{platform.machine()}-{digest[:8]}"


@cache
def _levels() -> tuple[str, ...]:
    # Kernels read arrays as objects of CPython with a global lock, whose head has 16 bytes.
    if platform.machine() not in ("x86_64", "AMD64") or HEAD != 16:
        return ()
    names, has = list(_LEVELS), _features()
    return tuple(
        name
        for place, name in enumerate(names)
        if all(has >= set(_LEVELS[below].split()) for below in names[place:])
    )


@cache
def _features() -> frozenset[str]:
    """Return the features of the first processor as the system names them."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(("flags", "Features")):
                    return frozenset(line.partition(":")[2].split())
    except OSError:
        pass
    return frozenset([platform.processor()])


def _passed(arguments: tuple[Any, ...]) -> tuple[tuple[object, ...], list[Any]]:
    """Return the signature of arguments, and the words that machine code gets for them."""
    signature: list[object] = []
    words: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if kind in _ARRAYS:
            signature.append((argument.dtype, argument.ndim, argument.flags.c_contiguous))
            # The code reads address, shape and strides from the object itself.
            words.append(id(argument))
        elif kind in _SCALARS:
            signature.append(_SCALARS[kind])
            words.append(_word(argument))
        else:
            signature.append(argument.signature)
            words.append(argument._address)
    return tuple(signature), words


def _word(number: Any) -> Any:
    if isinstance(number, (int, np.integer)) and not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"an integer of 64 bits is required, got {number}")
    return number if type(number) in _PARAMETERS else number.item()


def _function(path: Path, key: tuple[object, ...]) -> Callable[..., Any] | None:
    """Return the function of a library, or None if the system runs no code from there. While it
    runs, other threads do."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    name = next(name for name in RESULTS if hasattr(library, f"returns_{name}"))
    function: Callable[..., Any] = _prototype(name, key)((f"returns_{name}", library))
    return function


def _function_in_memory(path: Path, key: tuple[object, ...]) -> Callable[..., Any] | None:
    """Return the function of an object file, which LLVM links in memory, or None if it is none."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    file = llvm.ObjectFileRef.from_data(path.read_bytes())
    if not file:
        return None
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
    engine.add_object_file(file)
    engine.finalize_object()
    _ENGINES.append(engine)
    addresses = ((name, engine.get_function_address(f"returns_{name}")) for name in RESULTS)
    name, address = next(found for found in addresses if found[1])
    function: Callable[..., Any] = _prototype(name, key)(address)
    return function


_ENGINES: list[Any] = []
"""They hold the memory of functions."""


def _prototype(name: str, key: tuple[object, ...]) -> Any:
    kinds = [_PARAMETERS.get(kind, ctypes.c_void_p) for kind in key]
    return ctypes.CFUNCTYPE(RESULTS[name], *kinds)
