"""Compiling, once where it was not done ahead: it is told, and no search is charged for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import numpy as np
from numba.core import event

from dse.compile.warm_up import load_operators
from dse.space.design_space import DesignSpace
from fitness.objectives import make_outcomes
from fitness.warm_up import warm_up_branch_and_bound


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


def announce_compilation() -> None:
    """From now on, where something has to be compiled in this process, stderr says so, once."""
    if not _TELLER.listening:
        _TELLER.listening = True
        event.register("numba:compile", _TELLER)


def load_search_code(space: DesignSpace) -> None:
    """Has the timeline play one design point, and every operator work once, so that the clock of a
    search starts after whatever must be loaded or compiled."""
    evaluate = make_outcomes(space.problem)
    fastest = np.array([points[-1] for points in space.points], dtype=np.int64)
    rows = np.concatenate([space.best_unit, fastest])[None, :]

    def play() -> None:
        evaluate(rows)
        load_operators(space)

    _in_a_thread(play)


def load_proof_code() -> None:
    """The same for the search that proves a front."""
    _in_a_thread(warm_up_branch_and_bound)


def _in_a_thread(load: Callable[[], None]) -> None:
    """LLVM takes up to a minute for one function, and Ctrl-C would wait for it."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            load()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    for failure in failures:
        raise failure
