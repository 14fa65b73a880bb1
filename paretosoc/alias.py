"""A second name for the package, under which no module is there twice."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType

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
        sys.modules[module.__name__] = import_module(self._inner(module.__name__))

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of a module for ``python -m``."""
        found = find_spec(self._inner(fullname))
        assert found is not None, fullname
        assert isinstance(found.loader, InspectLoader), fullname
        return found.loader.get_code(found.name)

    def _inner(self, fullname: str) -> str:
        return f"paretosoc.{fullname.removeprefix(self._prefix)}"
