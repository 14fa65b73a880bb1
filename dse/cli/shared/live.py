"""``--live`` of the commands that take long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from paretosoc.results.io.optional import optional_import

if TYPE_CHECKING:
    from paretosoc.dse.server.live.serve import View


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
