"""A line on stderr, or a page (``--live``), that shows how far a command is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rich.console import Console
from rich.progress import Progress, ProgressColumn

from paretosoc.results.io.optional import optional_import

if TYPE_CHECKING:
    from paretosoc.dse.server.live.serve import View

Event = TypeVar("Event")


class ProgressLine(Generic[Event]):
    """Columns that follow events: a context, and inside it a function of an event.

    Args:
        show: maps an event to the fields of the columns. ``completed``, ``total`` and ``visible``
            are fields of rich's own.
        also: receives every event, too.
    """

    def __init__(
        self,
        *columns: ProgressColumn,
        show: Callable[[Event], Mapping[str, Any]],
        quiet: bool = False,
        also: Callable[[Event], None] | None = None,
        **fields: Any,
    ) -> None:
        width = os.get_terminal_size(2).columns if os.isatty(2) else None
        console = Console(stderr=True, width=width)
        self._bar = Progress(*columns, console=console, disable=quiet)
        self._task = self._bar.add_task("", **{"total": None, **fields})
        self._show, self._also = show, also
        self._moved = False

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and not self._moved:
            # A refusal before the beginning leaves its message alone.
            self._bar.live.transient = True
            self._bar.live.stop()
        else:
            if kind is None:
                # A search that found all ends before its budget.
                self._bar.update(self._task, total=self._bar.tasks[0].completed)
            self._bar.stop()

    def put(self, **fields: Any) -> None:
        """Show fields of the columns."""
        self._bar.update(self._task, **fields)

    def __call__(self, event: Event) -> None:
        self._moved = True
        self.put(**self._show(event))
        if self._also is not None:
            self._also(event)


def check_live() -> None:
    """Check that a live view is possible, before any work is done.

    Raises:
        ResultError: if the extra ``live`` is not installed.
    """
    for module in ("starlette", "uvicorn"):
        optional_import(module, extra="live", purpose="--live")


@contextmanager
def live_view(view: View | None, output: Path) -> Iterator[None]:
    """Serve the view, if any, while the block runs. Prints its address on stderr."""
    if view is None:
        yield
        return
    from paretosoc.dse.server.live.serve import served

    with served(view, output, lambda url: print(f"Live view: {url}", file=sys.stderr)):
        yield
