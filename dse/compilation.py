"""Compiling, once where it was not done ahead: it is told, and no search is charged for it."""

from __future__ import annotations

import sys
import threading

import numpy as np
from numba.core import event

from dse.design_space import DesignSpace
from dse.warm_up import load_operators
from fitness.outcomes import make_outcomes


class _Teller(event.Listener):
    """A line on stderr when the first function is compiled, not only loaded."""

    listening = False
    told = False

    def on_start(self, _: event.Event) -> None:
        """A function begins to be compiled."""
        if not self.told:
            self.told = True
            print("dse: compiling the timeline, once; it takes minutes", file=sys.stderr)

    def on_end(self, _: event.Event) -> None:
        """It is compiled."""


_TELLER = _Teller()


def tell_of_compiling() -> None:
    """From now on, where something has to be compiled in this process, stderr says so, once."""
    if not _TELLER.listening:
        _TELLER.listening = True
        event.register("numba:compile", _TELLER)


def load_machine_code(space: DesignSpace) -> None:
    """Has the timeline play one design point, and every operator work once, so that the clock of a
    search starts after whatever must be loaded or compiled.

    In a thread, for LLVM takes up to a minute for one function, and Ctrl-C would wait for it.
    """
    evaluate = make_outcomes(space.problem)
    fastest = np.array([points[-1] for points in space.points], dtype=np.int64)
    rows = np.concatenate([space.best_unit, fastest])[None, :]
    failures: list[BaseException] = []

    def play() -> None:
        try:
            evaluate(rows)
            load_operators(space)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    thread.join()
    for failure in failures:
        raise failure
