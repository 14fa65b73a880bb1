"""Worker processes that do not outlive the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading


def end_with_parent(ctrl_c: signal.Handlers | None = None) -> None:
    """End this process when the one that started it has ended, also if that was killed.

    Args:
        ctrl_c: ``SIG_DFL`` ends this process by Ctrl-C, which reaches all processes of a terminal,
            without an exception. ``SIG_IGN`` leaves it to the process that started this one.
    """
    if ctrl_c is not None:
        signal.signal(signal.SIGINT, ctrl_c)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
