"""The interface of result folders to commands, for every kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from paretosoc.dse.inputs.arguments import path_of
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import other_kind

if TYPE_CHECKING:
    from rich.console import RenderableType

    from paretosoc.results.plots.picture import Picture

MEMBERS = "a list of positions and names"
PLOTS = ("front", "gantt", "convergence", "energy", "roofline")


class Result(Protocol):
    """A front of design points (:class:`dse.Front`), or results of another kind.

    A package registers such a class under the entry point ``paretosoc.results``. The name of the
    entry is that of the file in the folder, ``NAME.json``. The class also has ``words``, a
    description of the results, and ``verify(folder, ignore_hashes=, verify_front=)``, which yields
    checks. ``verify_front(folder)`` yields those of a front in a folder below, if it has any, or
    with ``closed=True`` of the proof that there is none.
    """

    def __len__(self) -> int:
        """Return the number of members."""
        ...

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a result folder."""
        ...

    def rows(self, resolution: float | None = 0.0) -> list[dict[str, Any]]:
        """Return one row of plain data per choice at a resolution, at 0 per member."""
        ...

    def member_document(self, which: int | str) -> dict[str, Any]:
        """Return one member as plain data."""
        ...

    def views(self, *, width: int, resolution: float | None) -> list[RenderableType]:
        """Return the table of choices at a resolution and its captions, for a terminal."""
        ...

    def member_views(self, which: int | str, *, all_rows: bool) -> list[RenderableType]:
        """Return one member, for a terminal."""
        ...

    @classmethod
    def drawn(
        cls, what: str, named: Sequence[tuple[str, Self]], members: Sequence[int | str]
    ) -> Picture:
        """Return a picture of one or several results, one of ``PLOTS``."""
        ...

    def trace(self, members: Sequence[int | str]) -> tuple[bytes, list[str]]:
        """Return a trace for Perfetto, and the titles of the members in it."""
        ...

    def page(self, platform: str | None) -> tuple[bytes, list[str]]:
        """Return the HTML report, and notes about missing parts."""
        ...


def open_result(folder: str | Path) -> Result:
    """Read a result folder of a front, or of a kind that is registered.

    Raises:
        ResultError: if a file is missing, was changed, or does not belong to the others.
    """
    path = path_of(folder)
    kind = other_kind(path)
    if kind is not None:
        found: Result = kind.load(path)
        return found
    from paretosoc.dse.api.front import Front

    return Front.load(path)


def check_plot(what: str) -> None:
    """Accept a kind of figure.

    Raises:
        ResultError: on another one.
    """
    if what not in PLOTS:
        raise ResultError(f"plot: one of {', '.join(PLOTS)} is required, got {what!r}")
