"""A second name for the package, under which no module is there twice."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import paretosoc


def stand_for(name: str) -> None:
    """Make ``name`` and its submodules the very modules of ``paretosoc``.

    >>> import dse, paretosoc
    >>> dse is paretosoc and dse.Problem is paretosoc.Problem
    True
    """
    sys.meta_path.insert(0, _Alias(name))
    sys.modules[name] = paretosoc


class _Alias(MetaPathFinder, Loader):
    """Finds ``name.x`` as the module ``paretosoc.x``."""

    def __init__(self, name: str) -> None:
        self._prefix = f"{name}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.startswith(self._prefix) else None

    def exec_module(self, module: ModuleType) -> None:
        inner = module.__name__.removeprefix(self._prefix)
        sys.modules[module.__name__] = import_module(f"paretosoc.{inner}")
