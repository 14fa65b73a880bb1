"""The way from a problem to a front: search, baselines, members."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.options import as_engine, as_written
from paretosoc.common.plugins import plugin_errors
from paretosoc.dse.baselines.evaluate_all import baseline_points, one_unit_points
from paretosoc.dse.compile.load import load_search_code
from paretosoc.dse.engines.diagnose_infeasible import explain_infeasible
from paretosoc.dse.engines.optimizers import (
    Optimizer,
    is_own,
    is_single_decision,
    needs_proof,
    optimizer_named,
)
from paretosoc.dse.errors import InfeasibleError, InternalError, WorkloadError
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.problem.build import BuiltProblem
from paretosoc.dse.search.base import Engine
from paretosoc.dse.search.checkpoint import CheckpointFile, Identity
from paretosoc.dse.search.driver import Budget, Progress, SearchResult, StoppedBy, search
from paretosoc.dse.space.design_space import DesignSpace, starting_rows
from paretosoc.dse.space.members import make_members, rows_of
from paretosoc.dse.version import program_version
from paretosoc.fitness.objectives import OutcomeFunction, make_outcomes
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.front.front import (
    BaselinePoint,
    Front,
    HypervolumePoint,
    Member,
    Provenance,
    Robust,
)
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.problem_file import problem_sha256

DEFAULT_EVALUATIONS = 100_000
FREE_RUNNING_EVALUATIONS = 300
"""Simulating a free-running workload takes longer the slower its slowest network is than the
others,
and efficient mappings hold heavy networks back: they take a good part of a second each."""
STALLED_TIMES = 5
"""With a time limit alone, a search ends when the front has not grown for this many times the
default: NSGA-II begins anew several times within that."""
MAX_SNAPSHOTS = 200


@dataclass(frozen=True, eq=False)
class Robustness:
    """A measure over draws of the costs to search by, and the evaluation of design points by it."""

    robust: Robust
    evaluate: OutcomeFunction


def default_evaluations(problem: Problem) -> int:
    """Return the default number of evaluated design points."""
    return DEFAULT_EVALUATIONS if problem.execution.has_frame else FREE_RUNNING_EVALUATIONS


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Budget, seed and checkpoint of a search.

    ``max_evaluations``: number of design points to evaluate. Default: 100,000 (300 when free-
    running). With a time limit: stop after five times that many evaluations without improvement.
    ``time_limit_s``: time limit of search and proof together, after which the front depends on the
    machine. ``stop_when_stalled``: number of evaluations within which the hypervolume must grow by
    0.01 %. ``checkpoint``: a file that keeps the state of the search, to continue from if it
    exists. ``seed``: the same seed gives the same front for any number of ``jobs``. ``jobs``:
    number of worker threads. Default: one per core. ``robust``: a measure to search by.
    ``baselines``: merge them into the front. ``start``: rows [n, groups + domains] to begin with,
    the front of a problem with the same groups, units and domains, for example. Choices that are
    not allowed are repaired. ``max_nodes``: maximum number of nodes of each search of the proof.
    """

    max_evaluations: int | None = None
    time_limit_s: float | None = None
    stop_when_stalled: int | None = None
    checkpoint: Path | None = None
    seed: int = 0
    jobs: int | None = None
    robust: str | None = None
    baselines: bool = True
    start: IntArray | None = None
    max_nodes: int | None = None

    @property
    def arguments(self) -> dict[str, object]:
        """Return the settings that a user gives, by name, but for the checkpoint."""
        own = vars(self).items()
        return {name: value for name, value in own if name not in ("checkpoint", "start")}

    def budget(self, problem: Problem) -> Budget:
        """Return the budget of a search.

        Without a maximum of evaluations it has the default number of them. With a time limit
        instead, the search continues until the front has not grown for ``STALLED_TIMES`` as many.
        """
        default, seconds = default_evaluations(problem), self.time_limit_s
        stalled = self.stop_when_stalled
        if self.max_evaluations is None and seconds is not None:
            return Budget(sys.maxsize, seconds, stalled or STALLED_TIMES * default)
        return Budget(self.max_evaluations or default, seconds, stalled)


def explore_problem(
    built: BuiltProblem,
    settings: SearchSettings | None = None,
    *,
    platform: str,
    optimizer: Optimizer | None = None,
    robustness: Robustness | None = None,
    command: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Search for the front of a problem, merge the baselines, simulate its members.

    Args:
        optimizer: proposes design points. NSGA-II by default.
        robustness: search by this in place of nominal figures.

    Raises:
        InfeasibleError: if no design point found meets all constraints.
        InternalError: if the search ends outside the space, a fault of the program.
        ResultError: on a problem that is not sound.
        WorkloadError: on rows to begin with that are not of such a problem, a checkpoint that
            cannot be written, an optimizer that cannot search by a measure, or a failure in the
            code of one that is not the program's own.
    """
    settings = settings or SearchSettings()
    checkpoint, seed = settings.checkpoint, settings.seed
    if checkpoint is not None:
        check_output_file(checkpoint, option=as_written("checkpoint"), overwrite=True)
    check_problem(built.problem)
    workers = settings.jobs if settings.jobs is not None else os.cpu_count() or 1
    space = DesignSpace(built.problem)
    if settings.start is not None:
        space = replace(space, start=starting_rows(space, settings.start))
    optimizer = optimizer or optimizer_named("nsga2")
    evaluate = make_outcomes(built.problem, jobs=workers)
    measure = None
    if robustness is not None:
        _check_measurable(optimizer)
        evaluate, measure = robustness.evaluate, robustness.robust.measure
    # Before an engine loads the code of proofs, which may be compiled aside meanwhile.
    load_search_code(space)
    own, starting = is_own(optimizer), "optimizer: start(space, seed)"
    with nullcontext() if own else plugin_errors(starting, WorkloadError):
        searching = _engine(optimizer.start(space, seed))
    kept = None
    if checkpoint is not None:
        name = searching.name if measure is None else f"{searching.name} by {measure}"
        identity = Identity(problem_sha256(built.problem), name, seed, program_version())
        kept = CheckpointFile(checkpoint, identity, space, len(constraints_of(built.problem)))
    result = search(
        searching,
        evaluate,
        settings.budget(built.problem),
        checkpoint=kept,
        on_progress=on_progress,
        # Rows of the program's own engines are checked at the end, as a fault is its own.
        foreign=None if own else space,
    )
    if len(result.rows) == 0 and result.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    baselines = (*baseline_points(space), *one_unit_points(space))
    alone = is_single_decision(optimizer) or not settings.baselines
    if not alone:
        result = _with_baselines(result, baselines, evaluate)
    if len(result.rows) == 0:
        # A manager that finds no feasible row says nothing about other methods.
        # Probes and relaxations are of nominal figures.
        probe = not is_single_decision(optimizer) and measure is None
        why = explain_infeasible(built.problem, result, seed=seed, jobs=workers, probe=probe)
        raise InfeasibleError(why if measure is None else f"by {measure} of all draws: {why}")
    others = [point.member.design.row[None] for point in baselines]
    _refuse_outside(space, np.concatenate([result.rows, *others]))
    return Front(
        problem=built.problem,
        members=_members(built.problem, result, robustness, jobs=workers),
        provenance=Provenance(
            version=program_version(),
            engine=searching.name,
            single_decision=alone,
            seed=seed,
            evaluations=result.evaluations,
            stopped_by=result.stopped_by.value,
            seconds=round(result.seconds, 3),
            inputs=built.inputs,
            platform=platform,
            precision=built.precision,
            command=shlex.join(command),
            convergence=_convergence(result),
            reference_point=tuple(reference_point(result.objectives).tolist()),
        ),
        baselines=baselines,
        robust=None if robustness is None else robustness.robust,
    )


def _engine(started: object) -> Engine:
    if not isinstance(started, Engine):
        words = "an engine with name, ask() and tell(rows, outcomes)"
        raise wrong_argument("optimizer: start(space, seed)", words, started)
    return started


def _check_measurable(optimizer: Optimizer) -> None:
    """Refuse optimizers that decide by nominal figures of their own."""
    name = getattr(optimizer, "name", "")
    if needs_proof(optimizer) or is_single_decision(optimizer) or name == "auto":
        raise WorkloadError(
            f"{as_written('robust')}: a search by evaluated figures alone is required, such as "
            f"nsga2, got {as_engine(name)}, which knows nominal costs only"
        )


def _members(
    problem: Problem, result: SearchResult, robustness: Robustness | None, *, jobs: int
) -> tuple[Member, ...]:
    """Return the members of a result with nominal figures, and measures if it was found by such."""
    if robustness is None:
        return make_members(problem, result.rows, result.objectives, jobs=jobs)
    nominal = make_outcomes(problem, jobs=jobs)(result.rows).objectives
    # Draws of costs tell units apart that are interchangeable at nominal costs.
    members = make_members(problem, result.rows, nominal, jobs=jobs, keep_names=True)
    measures = robustness.evaluate(rows_of(members)).objectives.tolist()
    return tuple(
        replace(member, robust=tuple(values))
        for member, values in zip(members, measures, strict=True)
    )


def _refuse_outside(space: DesignSpace, rows: IntArray) -> None:
    outside = rows[~space.holds(rows)]
    if len(outside):
        raise InternalError(
            f"{len(outside)} of {len(rows)} design points are outside the space, such as "
            f"{outside[0].tolist()}"
        )


def _with_baselines(
    result: SearchResult, baselines: Sequence[BaselinePoint], evaluate: OutcomeFunction
) -> SearchResult:
    """Return the result with the baselines that keep all constraints, so that none beats it."""
    members = [point.member for point in baselines if not point.breaks]
    if not members:
        return result
    rows = rows_of(members)
    outcomes = evaluate(rows)
    rows, objectives = rows[outcomes.feasible], outcomes.objectives[outcomes.feasible]
    if len(result.rows):
        rows = np.concatenate((result.rows, rows))
        objectives = np.concatenate((result.objectives, objectives))
    kept = non_dominated(objectives)
    return replace(result, rows=rows[kept], objectives=objectives[kept])


def _convergence(result: SearchResult) -> tuple[HypervolumePoint, ...]:
    """Return the hypervolume over evaluations, of long searches thinned, as shares of the last."""
    reference = reference_point(result.objectives)
    final = hypervolume(result.objectives, reference)
    snapshots = result.snapshots
    if len(snapshots) > MAX_SNAPSHOTS:
        at = np.linspace(0, len(snapshots) - 1, MAX_SNAPSHOTS).round().astype(int)
        snapshots = tuple(snapshots[index] for index in at)
    volumes = [hypervolume(snapshot.objectives, reference) for snapshot in snapshots]
    return tuple(
        HypervolumePoint(snapshot.evaluations, round(volume / final if final else 0.0, 9))
        for snapshot, volume in zip(snapshots, volumes, strict=True)
    )
