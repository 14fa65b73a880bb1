"""Ctrl-C, or SIGTERM, as a request to end at the next safe point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """A flag that tells whether one of them came."""

    requested = False


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Defer the first Ctrl-C or SIGTERM, by which batch systems and containers end a program,
    within the block. The second one raises KeyboardInterrupt.

    Python delivers signals to the main thread only. In other threads nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(signum: int, frame: FrameType | None) -> None:
        if interrupt.requested:
            raise KeyboardInterrupt
        interrupt.requested = True

    for number in before:
        signal.signal(number, note)
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
