"""When the present call began."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from paretosoc.common.compiling import clock

_BEGAN: ContextVar[float | None] = ContextVar("began", default=None)


@contextmanager
def call_begins() -> Iterator[None]:
    """Return a context of a command, or of the run of a campaign, that begins now."""
    token = _BEGAN.set(clock())
    try:
        yield
    finally:
        _BEGAN.reset(token)


def seconds_since_call() -> float:
    """Return the seconds since the command, or the run of a campaign, began, but for those of
    compiling. 0 in the library."""
    began = _BEGAN.get()
    return 0.0 if began is None else clock() - began
