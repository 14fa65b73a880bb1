"""The Python entry: networks and a platform in, a front out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from dse.baselines.standing import baseline_points
from dse.checkpoint import CheckpointFile, Identity, Snapshot
from dse.compilation import load_machine_code
from dse.design_space import DesignSpace
from dse.engine_names import EngineName
from dse.engines import ENGINES, make_engine
from dse.errors import InfeasibleError, InternalError
from dse.infeasible import explain_infeasible
from dse.managers.settings import ManagerSettings
from dse.members import make_members
from dse.options import Options
from dse.problem_builder import BuiltProblem, build_problem
from dse.search import Budget, Progress, SearchResult, StoppedBy, search
from dse.warm_start import starting_rows
from dse.workload import Workload
from dse.workload_file import workload_from
from fitness.outcomes import constraints_of, make_outcomes
from fitness.profile_file import Profile, load_profile
from fitness.timeline import row_of
from platforms.platform import Platform
from platforms.platform_file import load_platform
from results.dominance import hypervolume, non_dominated, reference_point
from results.front import BaselinePoint, Front, HypervolumePoint, Provenance
from results.problem import IntArray, Problem
from results.problem_check import check_problem
from results.problem_file import problem_sha256

DEFAULT_EVALUATIONS = 100_000
FREE_RUNNING_EVALUATIONS = 300
"""Playing a free-running workload takes as long as its slowest network is slower than the others,
and efficient mappings hold heavy networks back: they take a good part of a second each."""
MOST_SNAPSHOTS = 200


def explore(
    networks: Sequence[str] | Workload,
    platform: str | Platform,
    *,
    options: Options | None = None,
    profile: str | Path | None = None,
    engine: EngineName = EngineName.NSGA2,
    manager: ManagerSettings | None = None,
    max_evaluations: int | None = None,
    time_limit_s: float | None = None,
    stop_when_stalled: int | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Searches for the Pareto front of networks that share a chip.

    Args:
        networks: names of the catalogue, ``.onnx`` files, ``NAME*COPIES``; one workload file; or a
            workload.
        platform: a name, a file, or a platform.
        options: objectives, constraints, grouping; by default latency against energy.
        profile: a file of the user's own measurements.
        engine: what searches, see :mod:`dse.engines`; the proof that goes with it is
            :func:`dse.front_proof.prove_front`'s.
        manager: what an engine of :mod:`dse.managers` is told besides.
        max_evaluations: design points to evaluate, at most; None: :func:`default_evaluations`.
        time_limit_s: ends the search earlier; the front then depends on the machine.
        stop_when_stalled: ends it where the hypervolume has hardly grown in so many evaluations.
        checkpoint: a file that the state of the search is kept in.
        resume: go on from the checkpoint, where there is one.
        seed: the same seed gives the same front, whatever ``jobs``.
        jobs: threads that evaluate; by default one per core.
        on_progress: called after each generation.

    Raises:
        GraphError, PlatformError, WorkloadError, ResultError: on input that cannot be used.
        InfeasibleError: where no design point found meets all constraints.
        InternalError: where the search ends outside the space, a fault of the program.
    """
    chip = load_platform(platform) if isinstance(platform, str) else platform
    workload = networks if isinstance(networks, Workload) else workload_from(networks)
    measured = None if profile is None else load_profile(profile, chip)
    built = build_problem(workload, chip, options, profile=measured)
    return explore_problem(
        built,
        platform=chip.name,
        profile=measured,
        engine=engine,
        manager=manager,
        max_evaluations=max_evaluations,
        time_limit_s=time_limit_s,
        stop_when_stalled=stop_when_stalled,
        checkpoint=checkpoint,
        resume=resume,
        seed=seed,
        jobs=jobs,
        on_progress=on_progress,
    )


def default_evaluations(problem: Problem) -> int:
    """Design points that are evaluated where nobody says how many."""
    return FREE_RUNNING_EVALUATIONS if problem.free_running else DEFAULT_EVALUATIONS


def explore_problem(
    built: BuiltProblem,
    *,
    platform: str,
    profile: Profile | None = None,
    engine: EngineName = EngineName.NSGA2,
    manager: ManagerSettings | None = None,
    max_evaluations: int | None = None,
    time_limit_s: float | None = None,
    stop_when_stalled: int | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    start: IntArray | None = None,
    seed: int = 0,
    jobs: int | None = None,
    command: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Front:
    """The same for a problem that is built already.

    Args:
        start: rows [n, groups + domains] to begin with, the front of a problem with the same
            groups, units and domains, for example; what this problem does not allow is repaired.

    Raises:
        InfeasibleError: where no design point found meets all constraints.
        InternalError: where the search ends outside the space, a fault of the program.
        ResultError: on a problem that is not sound.
        WorkloadError: on rows to begin with that are not of such a problem.
    """
    check_problem(built.problem)
    workers = jobs if jobs is not None else os.cpu_count() or 1
    space = DesignSpace(built.problem)
    if start is not None:
        space = replace(space, start=starting_rows(space, start))
    searching = make_engine(engine, space, seed, manager)
    kept = None
    if checkpoint is not None:
        identity = Identity(problem_sha256(built.problem), searching.name, seed, program_version())
        kept = CheckpointFile(checkpoint, identity, space, len(constraints_of(built.problem)))
    evaluations = max_evaluations
    if evaluations is None:
        evaluations = default_evaluations(built.problem)
    load_machine_code(space)
    result = search(
        searching,
        make_outcomes(built.problem, jobs=workers),
        Budget(evaluations, time_limit_s, stop_when_stalled),
        checkpoint=kept,
        resume=resume,
        on_progress=on_progress,
    )
    if len(result.rows) == 0 and result.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    baselines = baseline_points(space)
    if not ENGINES[engine].decides:
        result = _with_baselines(result, baselines)
    if len(result.rows) == 0:
        # What a manager did not reach says nothing of what others may.
        probe = not ENGINES[engine].decides
        raise InfeasibleError(
            explain_infeasible(built.problem, result, seed=seed, jobs=workers, probe=probe)
        )
    others = [row_of(point.member.design)[None] for point in baselines]
    _refuse_outside(space, np.concatenate([result.rows, *others]))
    return Front(
        problem=built.problem,
        members=make_members(built.problem, result.rows, result.objectives, jobs=workers),
        provenance=Provenance(
            version=program_version(),
            engine=searching.name,
            seed=seed,
            evaluations=result.evaluations,
            stopped_by=result.stopped_by.value,
            seconds=round(result.seconds, 3),
            inputs=built.inputs,
            platform=platform,
            command=shlex.join(command),
            convergence=_convergence(result),
            reference_point=tuple(reference_point(result.objectives).tolist()),
        ),
        baselines=baselines,
    )


def _refuse_outside(space: DesignSpace, rows: IntArray) -> None:
    outside = rows[~space.holds(rows)]
    if len(outside):
        raise InternalError(
            f"{len(outside)} of {len(rows)} design points are outside the space, such as "
            f"{outside[0].tolist()}"
        )


def _with_baselines(result: SearchResult, baselines: Sequence[BaselinePoint]) -> SearchResult:
    """The result with the baselines that keep all constraints: whatever the engine has tried, the
    front is not behind them."""
    members = [point.member for point in baselines if not point.breaks]
    if not members:
        return result
    rows = np.stack([row_of(member.design) for member in members])
    objectives = np.array([member.objectives for member in members], dtype=np.int64)
    if len(result.rows):
        rows = np.concatenate((result.rows, rows))
        objectives = np.concatenate((result.objectives, objectives))
    kept = non_dominated(objectives)
    return replace(result, rows=rows[kept], objectives=objectives[kept])


def _convergence(result: SearchResult) -> tuple[HypervolumePoint, ...]:
    """Hypervolume over evaluations as a share of the final one; long searches are thinned."""
    reference = reference_point(result.objectives)
    final = hypervolume(result.objectives, reference)
    snapshots = result.snapshots
    if len(snapshots) > MOST_SNAPSHOTS:
        at = np.linspace(0, len(snapshots) - 1, MOST_SNAPSHOTS).round().astype(int)
        snapshots = tuple(snapshots[index] for index in at)
    return tuple(_share(snapshot, reference, final) for snapshot in snapshots)


def _share(
    snapshot: Snapshot, reference: np.ndarray[tuple[int, ...], np.dtype[np.float64]], final: float
) -> HypervolumePoint:
    inside = snapshot.objectives[(snapshot.objectives < reference).all(axis=1)]
    share = hypervolume(inside, reference) / final if final and len(inside) else 0.0
    return HypervolumePoint(snapshot.evaluations, round(share, 9))


def program_version() -> str:
    """Version of the installed program, for provenance."""
    try:
        return version("paretosoc")
    except PackageNotFoundError:
        return "unknown"
