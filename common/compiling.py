"""The progress of numba in what it compiles, and times without it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

ANNOUNCED = (
    "dse: compiling kernels of this kind of problem, once; python -m paretosoc.dse.compile "
    "compiles all"
)


@dataclass
class Progress:
    """What numba has compiled in this process."""

    announced: bool = False
    """Whether a line on stderr says that something is compiled."""
    began: float | None = None
    depth: int = 0
    """A function is compiled while one that calls it is."""
    functions: int = 0
    since: float = 0.0
    """When the outermost function that is compiled now began."""
    seconds: float = 0.0
    """Spent on functions that have been compiled."""
    listening: bool = False


_PROGRESS = Progress()


def announce_compilation() -> None:
    """Print a line on stderr, once, if something has to be compiled from now on."""
    _PROGRESS.announced = True


def compiling() -> tuple[int, float] | None:
    """Return how many functions have been compiled and the seconds since the first one began, or
    None if nothing is compiled now."""
    if _PROGRESS.began is None or _PROGRESS.depth == 0:
        return None
    return _PROGRESS.functions, time.monotonic() - _PROGRESS.began


def clock() -> float:
    """Return seconds as ``time.monotonic()`` does, without those in which numba compiled.

    Time limits have this clock, so that they end alike whether or not kernels must be compiled.
    """
    now = time.monotonic()
    return (_PROGRESS.since if _PROGRESS.depth else now) - _PROGRESS.seconds


def listen() -> None:
    """Follow from now on what numba compiles, and does not only load."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: event.Event) -> None:
            if _PROGRESS.depth == 0:
                _PROGRESS.since = time.monotonic()
            _PROGRESS.depth += 1
            if _PROGRESS.began is None:
                _PROGRESS.began = time.monotonic()
                if _PROGRESS.announced:
                    print(ANNOUNCED, file=sys.stderr)

        def on_end(self, _: event.Event) -> None:
            _PROGRESS.depth -= 1
            _PROGRESS.functions += 1
            if _PROGRESS.depth == 0:
                _PROGRESS.seconds += time.monotonic() - _PROGRESS.since

    if not _PROGRESS.listening:
        _PROGRESS.listening = True
        event.register("numba:compile", Listener())


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
