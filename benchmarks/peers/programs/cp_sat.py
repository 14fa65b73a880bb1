"""OR-tools CP-SAT on HaX-CoNN's sample without contention (:mod:`benchmarks.oracles.job_shop`),
which is all that it can be told: a bound, and another problem's optimum.

Usage: ``python -m benchmarks.peers.programs.cp_sat SECONDS``
"""

from __future__ import annotations

import sys

from benchmarks.oracles.job_shop import solve_job_shop
from benchmarks.peers.programs.answer import Answer, print_answer, version_of
from benchmarks.peers.programs.search import SAMPLE_TRANSITIONS
from benchmarks.problems.hax_sample import hax_sample
from paretosoc.common.units import PS_PER_MS


def cp_sat_answer(*, time_limit_s: float) -> Answer:
    """Run the solver once on one worker."""
    problem = hax_sample(max_transitions=SAMPLE_TRANSITIONS)
    solved = solve_job_shop(problem, time_limit_s=time_limit_s)
    return Answer(
        version=version_of("ortools"),
        proved=f"none faster than {solved.bound_ps / PS_PER_MS:.3f} ms without contention, which "
        f"it cannot be told, in {solved.seconds:.2f} s",
    )


if __name__ == "__main__":
    print_answer(cp_sat_answer(time_limit_s=float(sys.argv[1])))
