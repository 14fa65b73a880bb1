"""HaX-CoNN's formulation (Eq. 1 to 11) in our encoding, given to Z3: the fastest schedule of its
sample, with a proof. Its own solver is no package, and is not asked.

Usage: ``python -m benchmarks.peers.programs.hax_conn``
"""

from __future__ import annotations

import time

from benchmarks.peers.programs.answer import Answer, print_answer, version_of
from benchmarks.peers.programs.search import SAMPLE_TRANSITIONS
from benchmarks.problems.hax_sample import hax_sample
from common.units import PS_PER_MS
from dse.certificate.formulation.solve import Setting, WholeStatus, solve_whole


def hax_conn_answer() -> Answer:
    """One run to the end.

    Raises:
        AssertionError: where it ends without an optimum.
    """
    problem = hax_sample(max_transitions=SAMPLE_TRANSITIONS)
    began = time.process_time()
    solved = solve_whole(problem, Setting.DISPATCH)
    seconds = time.process_time() - began
    if solved.status is not WholeStatus.OPTIMAL or solved.value is None:
        raise AssertionError(f"Z3 has ended: {solved.status.value}")
    return Answer(
        version=f"Z3 {version_of('z3-solver')}",
        evaluates="check of Z3",
        evaluations_per_second=solved.checks / seconds,
        optimum_s=seconds,
        proved=f"none faster than {solved.value / PS_PER_MS:.3f} ms",
    )


if __name__ == "__main__":
    print_answer(hax_conn_answer())
