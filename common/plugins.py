"""Plug-ins: named objects of the program, and those that installed packages add.

A package registers an object under an entry point. The group gives the kind of the object, the name
is the one that users type:

=========================  ==============================  ======================================
group                      name of                         object
=========================  ==============================  ======================================
``paretosoc.optimizers``   ``dse explore --engine NAME``   :class:`dse.Optimizer`
``paretosoc.cost_models``  ``dse explore --profile NAME``  function of a network, a platform and
                                                           its costs
``paretosoc.importers``    ``dse import NAME``             function of a command, as those in
                                                           ``dse.cli.measure.import_profile``
``paretosoc.deployments``  ``dse deploy --to NAME``        :class:`dse.tools.deploy.job.Format`
``paretosoc.objectives``   ``dse explore --objective``     :class:`dse.OwnObjective` of this name
``paretosoc.results``      ``NAME.json`` of a folder       like :class:`dse.api.result.Result`
=========================  ==============================  ======================================

The systems of the papers (:mod:`dse.papers`) are registered in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from paretosoc.common.errors import DseError
from paretosoc.common.text import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@dataclass(frozen=True)
class Registry(Generic[T]):
    """The objects of one group by name: the program's own, then those of installed packages."""

    group: str
    """The entry points' group, such as ``paretosoc.optimizers``."""
    what: str
    """One of them, for messages: ``an optimizer``."""
    fits: Callable[[object], bool]
    """Return whether an object can serve."""
    required: str
    """The requirement of :attr:`fits`, for messages."""
    own: Mapping[str, T] = field(default_factory=dict)
    error: type[DseError] = DseError

    def names(self) -> list[str]:
        """Return all names, the program's own first."""
        return [*self.own, *sorted(_registered(self.group).keys() - self.own.keys())]

    def get(self, name: str, label: str) -> T:
        """Return the object of a name. Only this one is imported.

        Args:
            label: the option or argument that named it, for messages.

        Raises:
            DseError: of the kind :attr:`error`, if there is none of this name, it cannot be
                imported, or it does not fit.
        """
        if name in self.own:
            return self.own[name]
        entry = _registered(self.group).get(name)
        if entry is None:
            names = self.names()
            hint = did_you_mean(name, names)
            raise self.error(f"{label}: the name of {self.what} is required, got {name!r}; {hint}")
        try:
            found: T = entry.load()
        except Exception as error:
            raise self.error(
                f"{label} {name}: {entry.value} of another package cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not self.fits(found):
            raise self.error(
                f"{label} {name}: {self.required} is required, {entry.value} is {found!r}"
            )
        return found

    def guard(self, name: str, label: str) -> AbstractContextManager[None]:
        """Return a context for the code of an object. In one of an installed package whatever goes
        wrong is raised as :attr:`error`. Faults of the program's own stay faults."""
        return nullcontext() if name in self.own else plugin_errors(f"{label} {name}", self.error)


@contextmanager
def plugin_errors(label: str, error: type[DseError]) -> Iterator[None]:
    """Raise failures in the code of a plug-in as ``error``, whose message begins with ``label``."""
    try:
        yield
    except DseError:
        raise
    except Exception as failure:
        raise error(f"{label}: {type(failure).__name__}: {failure}") from failure


@cache
def _registered(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=group)}
