"""The pipeline: problem -> search -> baselines -> proof -> files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np

from paretosoc.common import compiling
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.api.front import Front
from paretosoc.dse.api.problem import Networks, Problem, unknown_keywords
from paretosoc.dse.api.proof import before_pictures, certify
from paretosoc.dse.certificate.branch_and_bound import SearchProgress
from paretosoc.dse.certificate.certify import Limits
from paretosoc.dse.certificate.close import close
from paretosoc.dse.certificate.preconditions import Goal, certified_column, provable
from paretosoc.dse.certificate.strategy import SMALL_NODES, SMALL_SHARE, prove_front
from paretosoc.dse.compile.load import (
    compile_proof_code_aside,
    load_bound_code,
    load_proof_code,
    load_search_code,
)
from paretosoc.dse.engines.explore import SearchSettings, explore_problem
from paretosoc.dse.engines.optimizers import (
    Optimizer,
    goal_of,
    is_optimizer,
    needs_proof,
    optimizer_named,
)
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.dse.inputs.arguments import (
    LEAST_SECONDS,
    check_arguments,
    check_keywords,
    check_type,
)
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.dse.search.driver import Progress
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.tools.analysis.cost_draws import stated_errors
from paretosoc.dse.tools.analysis.robust import robustness
from paretosoc.dse.workload.options import FIELDS, ProblemOptions
from paretosoc.fitness.execution import rules_of
from paretosoc.platforms.platform import Platform
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import check_output_folder

ProgressBar = AbstractContextManager[Callable[[Progress], None] | None]
ProofBar = AbstractContextManager[Callable[[SearchProgress], None] | None]

SEARCH_SHARE = 0.5
"""Share of a time limit for the search if a proof follows. The proof has the rest."""


@dataclass(frozen=True, eq=False)
class Explored:
    """Result of :func:`explore_to_folder`."""

    front: Front
    interrupted: bool
    not_certified: str | None
    """Why nothing could be proved, if so."""
    not_proved: str | None
    """Why the front as a whole could not be proved, if so."""


def explore(
    networks: Networks | Problem,
    platform: str | Path | Platform | Optimizer | None = None,
    optimizer: str | Optimizer | None = None,
    *,
    max_evaluations: int | None = None,
    time_limit_s: float | None = None,
    stop_when_stalled: int | None = None,
    checkpoint: str | Path | None = None,
    seed: int = 0,
    jobs: int | None = None,
    robust: str | None = None,
    baselines: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
    **problem_options: Unpack[ProblemOptions],
) -> Front:
    """Search for the Pareto front of networks that share a chip. :func:`certify` proves the front.

    :func:`dse.exact` proves it at once. The front then has its claims, and the time limit covers
    search and proof. An interrupt (Ctrl-C) ends the search and gives the front found so far.

    Args:
        networks: a :class:`dse.Problem`, or any networks that it accepts.
        platform: a name, a file or a :class:`dse.Platform`. Omit it with a problem, whose optimizer
            may take its place.
        optimizer: an object, or a name as in ``dse explore --engine``. Default: :class:`dse.NSGA2`.
        max_evaluations: number of design points to evaluate. Default: 100,000 (300 when
            free-running). With a time limit: stop after five times that many evaluations without
            improvement.
        time_limit_s: time limit in seconds. The front then depends on the machine.
        stop_when_stalled: evaluations within which the hypervolume must grow by 0.01 %.
        checkpoint: a file that keeps the state of the search, to continue from if it exists.
        seed: the same seed gives the same front for any number of ``jobs``.
        jobs: number of worker threads. Default: one per core.
        robust: search with costs drawn from their errors, by ``mean``, a percentile such as ``p90``
            or ``cvar90``, the mean of the worst 10 %, in place of nominal costs. Members have the
            measures beside their nominal figures, and nothing can be proved of them.
        baselines: merge other methods' schedules into the front, so that it is not behind them.
            False: the front is what the optimizer found. Compare optimizers by such fronts.
        on_progress: called after each generation. If it raises KeyboardInterrupt, the search ends
            as by Ctrl-C.
        problem_options: further arguments of :class:`dse.Problem`.

    Raises:
        DseError: on input that cannot be used.
        InfeasibleError: if no design point that was found meets all constraints.

    Examples:
        >>> import paretosoc as dse
        >>> front = dse.explore(["vgg19", "resnet50"], "jetson-agx-xavier", max_evaluations=5_000)
        >>> front["fastest"].latency_ms
    """
    check_type("checkpoint", checkpoint, str | Path | None, "a file")
    settings = SearchSettings(
        max_evaluations=max_evaluations,
        time_limit_s=time_limit_s,
        stop_when_stalled=stop_when_stalled,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        seed=seed,
        jobs=jobs,
        robust=robust,
        baselines=baselines,
    )
    check_arguments(**settings.arguments, on_progress=on_progress)
    known = (*FIELDS, *(explore.__kwdefaults__ or ()))
    check_keywords("explore", unknown_keywords(problem_options), known)
    if isinstance(networks, Problem):
        if isinstance(platform, Platform | Path) or (
            platform is not None and optimizer is not None
        ):
            raise WorkloadError("explore: a problem has its platform, got another one")
        problem, chosen = networks, optimizer if platform is None else platform
        if problem_options:
            names = ", ".join(problem_options)
            raise WorkloadError(f"explore: {names}: are part of the problem that was given")
    else:
        if platform is None or isinstance(platform, Optimizer):
            raise WorkloadError("explore: a platform is required: a name, a file or an object")
        problem = Problem(networks, platform, **problem_options)
        chosen = optimizer
    engine = _optimizer(chosen)
    with refuted(problem, settings) if needs_proof(engine) else nullcontext():
        front = search_front(problem, engine, settings, on_progress=on_progress)
    if not needs_proof(engine) or front.numeric.provenance.stopped_by == "interrupt":
        return front
    left = None
    if time_limit_s is not None:
        left = max(time_limit_s - front.numeric.provenance.seconds, float(LEAST_SECONDS))
    return certify(front, time_limit_s=left, jobs=jobs)


def _optimizer(chosen: object) -> Optimizer:
    if is_optimizer(chosen):
        return chosen
    if chosen is None:
        return optimizer_named("nsga2")
    if not isinstance(chosen, str):
        raise wrong_argument("optimizer", "an object with start(space, seed), or a name", chosen)
    return optimizer_named(chosen)


def search_front(
    problem: Problem,
    optimizer: Optimizer | None,
    settings: SearchSettings,
    *,
    command: tuple[str, ...] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Search, merge the baselines, simulate each member once.

    Raises:
        InfeasibleError: if no design point that was found meets all constraints.
        WorkloadError: if the optimizer is not made for the problem.
    """
    robust = None
    if settings.robust is not None:
        errors = stated_errors(problem.numeric, problem.costs)
        robust = robustness(errors, settings.robust, seed=settings.seed, jobs=settings.jobs)
    front = explore_problem(
        problem.built,
        settings,
        platform=problem.platform.name,
        optimizer=_optimizer(optimizer),
        robustness=robust,
        command=command,
        on_progress=on_progress,
    )
    return Front(front, problem.costs)


@contextmanager
def refuted(
    problem: Problem, settings: SearchSettings | None = None, until: Deadline = NEVER
) -> Iterator[None]:
    """If a search finds nothing feasible, try to prove that there is nothing, in few nodes or those
    of the settings. Raise InfeasibleError that says so, with the proof if there is one."""
    try:
        yield
    except InfeasibleError as error:
        settings = settings or SearchSettings()
        nodes = SMALL_NODES if settings.max_nodes is None else settings.max_nodes
        closed, known = None, "Not proved: a design point may keep all limits."
        if settings.robust is None:
            or_time = "" if until is NEVER else " or the time limit"
            known = f"Not proved in {nodes:,} nodes{or_time}: a design point may keep all limits."
            closed = close(
                problem.numeric,
                np.zeros((0, len(problem.numeric.objectives)), dtype=np.int64),
                limits=Limits(nodes, until.share(SMALL_SHARE)),
                jobs=settings.jobs,
            )
        if closed is not None:
            known = "Proved: no design point keeps all limits."
        raise InfeasibleError(f"{error}\n{known}", closed) from None


def explore_to_folder(
    problem: Problem,
    output: Path,
    optimizer: Optimizer | None = None,
    settings: SearchSettings | None = None,
    *,
    prove: bool = True,
    overwrite: bool = False,
    command: tuple[str, ...] = (),
    search_bar: ProgressBar | None = None,
    proof_bar: Callable[[], ProofBar] | None = None,
    spent_s: float = 0.0,
    clock: Callable[[], float] = compiling.clock,
) -> Explored:
    """Search for a front, write it, prove it and write the proof, as ``dse explore`` does.

    The front is also written before the proof, so that an interrupted proof does not lose it. A
    time limit includes the drawing of pictures. Compiling kernels comes on top of it.
    ``spent_s``: seconds of the time limit that are gone. ``clock``: seconds.

    Raises:
        DseError: on input that cannot be used, or a folder that cannot be written.
        InfeasibleError: if no design point that was found meets all constraints.
    """
    settings = settings or SearchSettings()
    optimizer = optimizer or optimizer_named("auto")
    check_output_folder(output, overwrite=overwrite)
    if prove and rules_of(problem.numeric).provable and settings.time_limit_s is None:
        compile_proof_code_aside(problem.numeric)
    limit, has_proof = settings.time_limit_s, prove and _has_proof(problem, goal_of(optimizer))
    until = NEVER
    if limit is not None:
        load_search_code(DesignSpace(problem.numeric))
        if has_proof:
            load_proof_code(problem.numeric)
            load_bound_code()
        least = min(limit, float(LEAST_SECONDS))
        until = before_pictures(max(limit - spent_s, least), clock)
        share = SEARCH_SHARE if has_proof else 1.0
        settings = replace(settings, time_limit_s=share * until.left)
    refuting = refuted(problem, settings, until) if prove else nullcontext()
    with refuting, search_bar or nullcontext() as on_progress:
        front = search_front(problem, optimizer, settings, command=command, on_progress=on_progress)
    interrupted = front.numeric.provenance.stopped_by == "interrupt"
    written = prove = prove and not interrupted
    if written:
        front.save(output, overwrite=overwrite, pictures=False)
    not_certified = not_proved = None
    goal = goal_of(optimizer)
    if prove and not (goal is Goal.FASTEST and certified_column(front.problem) is None):
        limits = Limits(settings.max_nodes, until)
        try:
            with (proof_bar or nullcontext)() as on_proof:
                proof = prove_front(
                    front.numeric,
                    goal=goal,
                    limits=limits,
                    jobs=settings.jobs,
                    on_progress=on_proof,
                )
        except ResultError as error:
            not_certified = f"not certified: {error}"
        else:
            front = front.with_proof(proof)
            interrupted = proof.interrupted
            if proof.refused is not None:
                not_proved = f"the front is not proved: {proof.refused}"
    front.save(output, overwrite=overwrite or written)
    return Explored(front, interrupted, not_certified, not_proved)


def _has_proof(problem: Problem, goal: Goal) -> bool:
    try:
        provable(problem.numeric, goal)
    except ResultError:
        return False
    return True
