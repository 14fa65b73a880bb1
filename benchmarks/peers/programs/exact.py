"""Our branch and bound from nothing, on one thread: the reference problem's front, and the fastest
design point of HaX-CoNN's sample.

Usage: ``python -m benchmarks.peers.programs.exact``
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.peers.programs.answer import Answer, print_answer, version_of
from benchmarks.peers.programs.search import SAMPLE_TRANSITIONS
from benchmarks.problems.hax_sample import KNOWN_BEST_MAKESPAN_PS, hax_sample
from benchmarks.problems.reference_problem import reference_problem
from benchmarks.problems.search_problems import reference_front
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.certificate.branch_and_bound import ExactResult, find_front

REPETITIONS = 3


def exact_answer() -> Answer:
    """Return the shortest of some runs. ``share_percent`` needs no limit of time, as it has the
    front.

    Raises:
        AssertionError: if it is not the front, or not the optimum, that enumeration found.
    """
    front, sample = reference_problem(), hax_sample(max_transitions=SAMPLE_TRANSITIONS)
    for problem in (front, sample):
        find_front(problem, max_nodes=1, jobs=1)
    found, front_s = _timed(lambda: find_front(front, jobs=1))
    best, best_s = _timed(lambda: find_front(sample, jobs=1))
    known = reference_front()
    if not np.array_equal(found.objectives[np.argsort(found.objectives[:, 0])], known):
        raise AssertionError("the exact search has another front than enumeration")
    if best.objectives.tolist() != [[KNOWN_BEST_MAKESPAN_PS[True, SAMPLE_TRANSITIONS]]]:
        raise AssertionError(f"the exact search says {best.objectives.tolist()}")
    members = len(found.objectives)
    return Answer(
        version=version_of("paretosoc"),
        optimum_s=best_s,
        share_percent=100.0,
        proved=f"complete front ({members} members, {front_s:.2f} s); none faster than "
        f"{best.objectives[0, 0] / PS_PER_MS:.3f} ms",
    )


def _timed(work: Callable[[], ExactResult]) -> tuple[ExactResult, float]:
    """Return a result, and the smallest CPU time of some runs."""
    times = []
    for _ in range(REPETITIONS):
        began = time.process_time()
        result = work()
        times.append(time.process_time() - began)
    return result, min(times)


if __name__ == "__main__":
    print_answer(exact_answer())
