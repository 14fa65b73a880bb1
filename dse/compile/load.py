"""Compile or load kernels before a clock starts, and announce it if it takes long."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial

import numpy as np

from paretosoc.dse.compile.warm_up import load_operators
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.warm_up import (
    is_branch_and_bound_built,
    warm_up_branch_and_bound,
    warm_up_checker,
    warm_up_multipliers,
)
from paretosoc.results.problem.problem import Problem

LEAST_ADDRESS_SPACE = 800 * 10**6
"""Bytes. With less LLVM ends the process when it loads or compiles kernels."""


def check_address_space() -> None:
    """Check that the process may have the memory that kernels need.

    Raises:
        WorkloadError: if a limit on its address space is too low.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        raise WorkloadError(
            f"an address space of {LEAST_ADDRESS_SPACE >> 10} KiB or more is required, got a limit "
            f"of {limit >> 10} KiB (ulimit -v)"
        )


def load_search_code(space: DesignSpace) -> None:
    """Evaluate one design point and run every operator once, so that the clock of a search starts
    after whatever must be loaded or compiled."""
    evaluate = make_outcomes(space.problem)
    rows = np.concatenate([space.best_unit, space.fastest])[None, :]

    def simulate() -> None:
        evaluate(rows)
        load_operators(space)

    _in_a_thread(simulate)


def compile_proof_code_aside(problem: Problem) -> None:
    """Start to compile the search of a proof, while the other search is compiled and runs.

    Does nothing if that has been compiled before, or there is only one core.
    """
    engines = any(problem.runs_engines)
    if (os.cpu_count() or 1) > 1 and not is_branch_and_bound_built(engines=engines):
        part = "proof-engines" if engines else "proof"
        command = [sys.executable, "-m", "paretosoc.dse.compile", part]
        _ASIDE.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))


_ASIDE: list[subprocess.Popen[bytes]] = []


def load_proof_code(problem: Problem | None = None) -> None:
    """Load or compile the search that proves a front, and the check of its tree."""
    _in_a_thread(warm_up_checker)
    # Prices are found by the kernels of bounds.
    load_bound_code()
    while _ASIDE:
        _ASIDE.pop().wait()
    engines = problem is not None and any(problem.runs_engines)
    _in_a_thread(partial(warm_up_branch_and_bound, engines=engines))


def load_bound_code() -> None:
    """Load or compile the code of bounds over boxes of operating points."""
    _in_a_thread(warm_up_multipliers)


def _in_a_thread(load: Callable[[], None]) -> None:
    """Run a function in a thread: LLVM takes up to a minute for one, and Ctrl-C would wait for
    it."""
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
