"""Ctrl-C as a request to end at the next safe point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """A flag that tells whether Ctrl-C was pressed."""

    requested = False


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Defer the first Ctrl-C within the block. The second one raises KeyboardInterrupt.

    Python delivers signals to the main thread only. In other threads nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.getsignal(signal.SIGINT)

    def note(signum: int, frame: FrameType | None) -> None:
        if interrupt.requested:
            raise KeyboardInterrupt
        interrupt.requested = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
