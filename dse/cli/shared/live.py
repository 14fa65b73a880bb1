"""``--live`` of the commands that take long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from results.io.optional import optional_import

if TYPE_CHECKING:
    from dse.server.live.serve import View


def check_live() -> None:
    """Refuses before anything is done.

    Raises:
        ResultError: where the extra ``live`` is not installed.
    """
    for module in ("starlette", "uvicorn"):
        optional_import(module, extra="live", purpose="--live")


@contextmanager
def live_view(view: View | None, output: Path) -> Iterator[None]:
    """Serves a view, where there is one, while the block runs; says where on stderr."""
    if view is None:
        yield
        return
    from dse.server.live.serve import served

    with served(view, output, lambda url: print(f"Live view: {url}", file=sys.stderr)):
        yield
