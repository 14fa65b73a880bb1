"""The fastest member by the formulation: upper parts of the space shared out to processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.processes import end_with_parent
from paretosoc.dse.certificate.branch_and_bound import Incumbents, find_front
from paretosoc.dse.certificate.formulation.equations import check_formulated
from paretosoc.dse.certificate.formulation.parts import Hints, Path, upper_parts
from paretosoc.dse.certificate.formulation.refute import Ended, NotShown, Refutation
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import FormulationProof
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

FEW_PARTS = 512
"""Fewer parts take this process up to three seconds, and are tried after every proof."""
UPPER_PARTS = 24
"""Number of parts that are shared out. On the way down to each, everything is asked again. The
questions do not depend on the number of processes."""
NODES_OF_PART = 4
"""A tree has fewer nodes than so many times its parts, unless many choices have one way only."""
POLL_S = 0.2
DISPATCH = "dispatch"
"""Name of the rule by which layers start, that of the timeline."""


@dataclass(frozen=True)
class FormulationProgress:
    """Progress of a proof: parts without a solution, questions that Z3 has answered, and shared
    parts.

    ``shared`` is the number of parts that were shared out, one for the whole space. ``done`` of
    them are complete.
    """

    parts: int
    questions: int
    done: int
    shared: int


def prove_formulation(
    problem: Problem,
    fastest: DesignPoint,
    optimum_ps: int,
    *,
    jobs: int | None = None,
    max_parts: int | None = None,
    on_progress: Callable[[FormulationProgress], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> FormulationProof:
    """Prove by Z3 that Eq. 1 to 11 of HaX-CoNN have no solution with a smaller makespan.

    They must have one with this makespan.

    Args:
        problem: latency is one of its objectives.
        fastest: a design point with the makespan ``optimum_ps``.
        jobs: processes; one per core by default. Small problems are left to this one.
        max_parts: a problem with as many parts, at most ``FEW_PARTS``, is not tried, nor one whose
            tree has ``NODES_OF_PART`` times as many nodes.
        on_progress: called now and then.
        stopped: polled. True ends the proof.

    Raises:
        ResultError: if Eq. 1 to 11 do not have the problem's rules.
        Ended: if the limits end it.
        NotShown: if it is not so, or Z3 does not show it.
    """
    check_formulated(problem)
    began = time.monotonic()
    column = _makespan_column(problem)
    hints = Hints(problem, column, optimum_ps)
    if max_parts is not None:
        # The compiled search sees at once that a tree is much too large. This one is interpreted.
        searched = find_front(
            problem,
            objectives=(column,),
            known=Incumbents(np.array([[optimum_ps]])),
            max_nodes=NODES_OF_PART * max_parts,
            jobs=1,
            interrupted=stopped,
        )
        if not searched.complete:
            raise Ended(f"there are {max_parts} parts and more")
    is_small = len(upper_parts(hints, max_parts or FEW_PARTS)) == 1
    if not is_small and max_parts is not None:
        raise Ended(f"there are {max_parts} parts and more")
    parts: list[Path] = [()] if is_small else upper_parts(hints, UPPER_PARTS)
    alone = _only(problem, fastest)
    if not Refutation(alone, column, optimum_ps + 1, stopped=stopped).has_solution():
        raise NotShown("the fastest member is no solution")
    if len(parts) == 1:
        counts = _refute_here(problem, column, optimum_ps, parts[0], on_progress, stopped)
    else:
        counts = _share_out(problem, column, optimum_ps, parts, jobs, on_progress, stopped)
    return FormulationProof(
        setting=DISPATCH,
        optimum_ps=optimum_ps,
        solver=_solver(),
        parts=counts[0],
        questions=counts[1],
        seconds=round(time.monotonic() - began, 3),
    )


def _refute_here(
    problem: Problem,
    column: int,
    optimum_ps: int,
    part: Path,
    on_progress: Callable[[FormulationProgress], None] | None,
    stopped: Callable[[], bool],
) -> tuple[int, int]:
    """Refute a part in this process. Return how many parts it was split into, and questions."""

    def report_and_poll() -> bool:
        if on_progress is not None:
            on_progress(FormulationProgress(refutation.parts, refutation.questions, 0, 1))
        return stopped()

    refutation = Refutation(problem, column, optimum_ps, stopped=report_and_poll)
    refutation.refute(part)
    return refutation.parts, refutation.questions


def _share_out(
    problem: Problem,
    column: int,
    optimum_ps: int,
    parts: Sequence[Path],
    jobs: int | None,
    on_progress: Callable[[FormulationProgress], None] | None,
    stopped: Callable[[], bool],
) -> tuple[int, int]:
    """Refute parts in processes. Return how many parts they were split into, and questions."""
    # Imported here: few proofs take processes.
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    known = FormulationProgress(0, 0, 0, len(parts))
    with ProcessPoolExecutor(
        min(jobs or os.cpu_count() or 1, len(parts)),
        context,
        _begin_process,
        (stop, problem, column, optimum_ps),
    ) as pool:
        tasks: set[Future[FormulationProgress]] = {
            pool.submit(_refute_in_process, part) for part in parts
        }
        try:
            while tasks:
                done, tasks = wait(tasks, POLL_S, FIRST_COMPLETED)
                known = _sum(known, [task.result() for task in done])
                if on_progress is not None:
                    on_progress(known)
                if tasks and stopped():
                    raise Ended(f"ended after {known.done} of {known.shared} parts of the space")
        except BrokenProcessPool:
            raise Ended("a process died") from None
        finally:
            stop.set()
            # Without tasks it ends at once; not awaited, its thread may fail as Python ends.
            pool.shutdown(wait=not tasks, cancel_futures=True)
    return known.parts, known.questions


def _sum(known: FormulationProgress, more: Sequence[FormulationProgress]) -> FormulationProgress:
    return FormulationProgress(
        known.parts + sum(task.parts for task in more),
        known.questions + sum(task.questions for task in more),
        known.done + sum(task.done for task in more),
        known.shared,
    )


_refutation: Refutation | None = None
"""The refutation of a process of the pool, for all of its tasks: to make one takes as long as some
forty parts."""


def _begin_process(stop: Event, problem: Problem, column: int, optimum_ps: int) -> None:
    """Make the process's refutation, which ends once ``stop`` is set. Leave Ctrl-C to the process
    that shares out."""
    global _refutation
    end_with_parent(signal.SIG_IGN)
    _refutation = Refutation(problem, column, optimum_ps, stopped=stop.is_set)


def _refute_in_process(part: Path) -> FormulationProgress:
    assert _refutation is not None
    parts, questions = _refutation.parts, _refutation.questions
    _refutation.refute(part)
    return FormulationProgress(_refutation.parts - parts, _refutation.questions - questions, 1, 1)


def _makespan_column(problem: Problem) -> int:
    makespan = Objective(ObjectiveKind.LATENCY)
    if makespan not in problem.objectives:
        names = ", ".join(problem.objective_names)
        raise ResultError(f"the formulation is about latency, which is no objective: {names}")
    return problem.objectives.index(makespan)


def _only(problem: Problem, design: DesignPoint) -> Problem:
    """Return the problem with one design point."""
    allowed = np.zeros_like(problem.allowed)
    allowed[np.arange(problem.group_count), design.units] = True
    domains = []
    for domain, point in zip(problem.domains, design.operating_points.tolist(), strict=True):
        chosen = np.zeros_like(domain.allowed)
        chosen[point] = True
        domains.append(replace(domain, allowed=chosen))
    return replace(problem, allowed=allowed, domains=tuple(domains))


def _solver() -> str:
    from importlib.metadata import version

    return f"z3 {version('z3-solver')}"
