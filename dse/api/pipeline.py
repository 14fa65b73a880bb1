"""The pipeline: problem -> search -> baselines -> proof -> files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from paretosoc.common import compiling
from paretosoc.common.compiling import announce_compilation
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.api.front import Front, front_of
from paretosoc.dse.api.problem import Networks, Problem, unknown_keywords
from paretosoc.dse.certificate.boxes.prove import BoundedFront
from paretosoc.dse.certificate.branch_and_bound import Cluster, SearchProgress
from paretosoc.dse.certificate.certify import CertifiedFront, Limits
from paretosoc.dse.certificate.formulation.prove import FormulationProgress
from paretosoc.dse.certificate.outcome import ProofOutcome
from paretosoc.dse.certificate.preconditions import Goal, certified_column, provable
from paretosoc.dse.certificate.strategy import add_formulation, prove_front
from paretosoc.dse.compile.load import (
    check_address_space,
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
from paretosoc.dse.errors import WorkloadError
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
from paretosoc.results.front.certificate import CertificateStatus, ProofArtifacts
from paretosoc.results.front.front import Front as NumericFront

ProgressBar = AbstractContextManager[Callable[[Progress], None] | None]
ProofBar = AbstractContextManager[Callable[[SearchProgress], None] | None]

SEARCH_SHARE = 0.5
"""Share of a time limit for the search if a proof follows. The proof has the rest."""
PICTURE_SECONDS, PICTURE_SHARE = 1.5, 0.125
"""Seconds of a time limit that pictures have, and their largest share of it."""


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
    search and proof.

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
        on_progress: called after each generation.
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
    optimizer: Optimizer | None = None,
    settings: SearchSettings | None = None,
    *,
    command: tuple[str, ...] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Search, merge the baselines, simulate each member once.

    Raises:
        InfeasibleError: if no design point that was found meets all constraints.
        WorkloadError: if the optimizer is not made for the problem.
    """
    settings = settings or SearchSettings()
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
        until = _before_pictures(max(limit - spent_s, least), clock)
        share = SEARCH_SHARE if has_proof else 1.0
        settings = replace(settings, time_limit_s=share * until.left)
    with search_bar or nullcontext() as on_progress:
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


def _before_pictures(limit: float | None, clock: Callable[[], float] = compiling.clock) -> Deadline:
    if limit is None:
        return NEVER
    return Deadline.after(limit - min(PICTURE_SECONDS, PICTURE_SHARE * limit), clock)


def _has_proof(problem: Problem, goal: Goal) -> bool:
    try:
        provable(problem.numeric, goal)
    except ResultError:
        return False
    return True


def certify(
    front: Front | str | Path,
    *,
    time_limit_s: float | None = None,
    max_nodes: int | None = None,
    fastest_only: bool = False,
    formulation: bool = False,
    jobs: int | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
) -> Front:
    """Prove that a front (or the front of a folder) is complete, or bound its distance from
    completeness, and prove that nothing is faster.

    The result may have more members, since the exact search adds its finds to the front. Ctrl-C
    ends the proof and keeps all claims proved so far. ``formulation``: certify the fastest member
    only, and have Z3 prove it by HaX-CoNN's equations. ``jobs``: number of workers. Default: one
    per core.

    Raises:
        ResultError: if nothing can be proved about any objective.
    """
    check_arguments(
        time_limit_s=time_limit_s,
        max_nodes=max_nodes,
        fastest_only=fastest_only,
        formulation=formulation,
        jobs=jobs,
        on_progress=on_progress,
    )
    front = front_of(front)
    proof = prove(
        front,
        time_limit_s=time_limit_s,
        max_nodes=max_nodes,
        fastest_only=fastest_only,
        formulation=formulation,
        jobs=jobs,
        on_progress=on_progress,
    )
    if proof is None:
        return front
    return front.with_proof(proof)


def prove(
    front: Front,
    *,
    time_limit_s: float | None = None,
    max_nodes: int | None = None,
    fastest_only: bool = False,
    formulation: bool = False,
    jobs: int | None = None,
    cluster: Cluster | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    on_checkpoint: Callable[[ProofOutcome], None] | None = None,
    on_formulation: Callable[[FormulationProgress], None] | None = None,
) -> ProofOutcome | None:
    """Return the proof that :func:`certify` adds, or None if nothing is left to prove.

    ``on_formulation``: called while Z3 proves the fastest member by HaX-CoNN's equations.

    Raises:
        ResultError: if nothing can be proved about any objective.
    """
    check_address_space()
    goal = Goal.FASTEST if fastest_only or formulation else Goal.WHOLE_FRONT
    if time_limit_s is not None:
        announce_compilation()
        load_proof_code(front.problem)
        load_bound_code()
    until, proof = _before_pictures(time_limit_s), None
    # A claim whose certificate is lost is proved again.
    if front.certificate is None or not _is_reached(front.numeric, goal):
        earlier = front.certificate
        if goal is Goal.WHOLE_FRONT and front.epsilon is not None and not _is_claim(front.epsilon):
            earlier = front.epsilon
        announce_compilation()
        proof = prove_front(
            front.numeric,
            goal=goal,
            limits=Limits(max_nodes, until),
            earlier=earlier,
            jobs=jobs,
            cluster=cluster,
            on_progress=on_progress,
            on_checkpoint=on_checkpoint,
        )
    claim = (front.numeric if proof is None else proof.front).certificate
    if not formulation or (claim is not None and claim.formulation is not None):
        return proof
    if proof is None:
        proof = ProofOutcome(
            front.numeric, front.certificate, front.epsilon, front.bounds, False, None
        )
    return add_formulation(proof, jobs=jobs, until=until, on_progress=on_formulation)


def save_checkpoint(front: Front, folder: Path, gap: ProofOutcome) -> None:
    """Write the state of an exact search into the folder of its front, for :func:`prove` to resume
    from. No claim is lost. Beside a certified member, the gap of a whole front is that of
    ``epsilon.json``. Beside a claim about the whole front, no checkpoint is written."""
    numeric, found = front.numeric, gap.front
    if _is_claim(front.epsilon):
        return
    if numeric.bounds is not None and front.bounds is not None:
        bounded = BoundedFront(numeric.bounds, front.bounds).about(found)
        if bounded is not None:
            found = replace(found, bounds=bounded.claim)
            gap = replace(gap, front=found, bounds=bounded.proof)
    if _is_claim(front.certificate):
        assert numeric.certificate is not None
        assert front.certificate is not None
        fastest = CertifiedFront(numeric, numeric.certificate, front.certificate).about(found)
        if fastest is not None:
            found = replace(found, certificate=fastest.claim, epsilon=found.certificate)
            gap = replace(gap, front=found, certificate=fastest.files, epsilon=gap.certificate)
    front.with_proof(gap).save(folder, overwrite=True, pictures=False)


def _is_claim(proof: ProofArtifacts | None) -> bool:
    return proof is not None and proof.certificate.status is not CertificateStatus.GAP


def _is_reached(front: NumericFront, goal: Goal) -> bool:
    """Return whether nothing is left to prove."""
    claim = front.certificate
    if claim is None or claim.status is CertificateStatus.GAP:
        return False
    return goal is Goal.FASTEST or len(claim.objectives) == len(front.problem.objectives)
