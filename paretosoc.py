"""The library under the name that it is installed by: ``import paretosoc`` is ``import dse``.

Submodules are the same too: ``paretosoc.api`` is ``dse.api``.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import dse

_NAME = __name__


class _Alias(MetaPathFinder, Loader):
    """Find ``paretosoc.x`` as the module ``dse.x``, so that no class is there twice."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.startswith(f"{_NAME}.") else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = import_module(f"dse{name.removeprefix(_NAME)}")


sys.meta_path.insert(0, _Alias())
sys.modules[_NAME] = dse
