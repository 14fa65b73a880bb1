"""HaX-CoNN's formulation (Eq. 1 to 11) in our encoding: Z3 shows, part of the space by part, that
its sample has no schedule faster than the optimum, which the exact search gives it. Asked for the
optimum all at once, Z3 needs minutes. HaX-CoNN's own solver is no package, and is not asked.

Usage: ``python -m benchmarks.peers.programs.hax_conn``
"""

from __future__ import annotations

import time

from benchmarks.peers.programs.answer import Answer, print_answer, version_of
from benchmarks.peers.programs.search import SAMPLE_TRANSITIONS
from benchmarks.problems.hax_sample import hax_sample
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.certificate.formulation.prove import prove_formulation
from paretosoc.dse.space.members import make_members


def hax_conn_answer() -> Answer:
    """Run one proof.

    Raises:
        NotShown: if Z3 shows another optimum.
    """
    problem = hax_sample(max_transitions=SAMPLE_TRANSITIONS)
    found = find_front(problem, jobs=1)
    (fastest,) = make_members(problem, found.rows, found.objectives)
    began = time.process_time()
    proof = prove_formulation(problem, fastest.design, fastest.objectives[0], jobs=1)
    seconds = time.process_time() - began
    return Answer(
        version=f"Z3 {version_of('z3-solver')}",
        proved=f"none faster than {proof.optimum_ps / PS_PER_MS:.3f} ms, in {seconds:.1f} s",
    )


if __name__ == "__main__":
    print_answer(hax_conn_answer())
