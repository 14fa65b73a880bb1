"""Functions of kernels in LLVM's intermediate representation, made by numba without machine code.

numba alone optimises each function with all that it calls, adds two functions for calls from
Python, and generates machine code. A kernel inlines what it calls, so that all of this is needed
once for a kernel: :mod:`common.machine_code.link` does it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba import _dynfunc
from numba.core import codegen, dispatcher
from numba.core.descriptors import TargetDescriptor
from numba.core.registry import cpu_target


class _Functions(codegen.AOTCodeLibrary):  # type: ignore[misc]
    def add_llvm_module(self, ll_module: Any) -> None:
        # Simplified before they are inlined: once, and not at each place that calls them.
        self._optimize_functions(ll_module)
        self._final_module.link_in(ll_module)

    def _optimize_final_module(self) -> None:
        pass


class _Codegen(codegen.AOTCPUCodegen):  # type: ignore[misc]
    _library_class = _Functions

    def _customize_tm_features(self) -> Any:
        return self._get_host_cpu_features()

    def _customize_tm_options(self, options: dict[str, Any]) -> None:
        super()._customize_tm_options(options)
        options["cpu"] = self._get_host_cpu_name()


def _executable(library: Any, description: Any, environment: Any) -> Any:
    """Return the object by which numba knows a function. It has no address to call."""
    library.finalize()
    module, name = description.lookup_module(), description.qualname
    return _dynfunc.make_function(module, name, "", 0, environment, ())


class _Target(TargetDescriptor):  # type: ignore[misc]
    options = cpu_target.options

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context

    @cached_property
    def target_context(self) -> Any:
        return cpu_target.target_context.subtarget(
            _internal_codegen=_Codegen("kernels"), get_executable=_executable
        )


class KernelDispatcher(dispatcher.Dispatcher):
    """A function that numba compiles for the types of arguments, without machine code."""

    targetdescr = _Target("cpu")

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        """Take numba's options. Nothing is compiled yet."""
        # Imported here: no machine code depends on it.
        from paretosoc.common.compiling import listen

        listen()
        wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={"nopython": True, **wrappers, **options})

    def __call__(self, *_: Any) -> Any:
        """Refuse: only :class:`Kernel` calls machine code."""
        raise RuntimeError(f"{self.py_func.__name__} has no machine code")
