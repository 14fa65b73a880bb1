"""When the present call began."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_BEGAN: ContextVar[float | None] = ContextVar("began", default=None)


@contextmanager
def call_begins() -> Iterator[None]:
    """Return a context of a command, or of the run of a campaign, that begins now."""
    token = _BEGAN.set(time.monotonic())
    try:
        yield
    finally:
        _BEGAN.reset(token)


def seconds_since_call() -> float:
    """Return the seconds since the command, or the run of a campaign, began. 0 in the library."""
    began = _BEGAN.get()
    return 0.0 if began is None else time.monotonic() - began
