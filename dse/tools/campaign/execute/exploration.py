"""One run: an exploration as a pure function of its inputs, in whichever process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from paretosoc.common.options import Door, called_from
from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.engines.explore import SearchSettings, explore_problem
from paretosoc.dse.engines.optimizers import goal_of, needs_proof, optimizer_named
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, build_problem, cost_origins
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.dse.problem.runtime_limits import with_defaults
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs, program_identity
from paretosoc.dse.tools.campaign.plan.settings import options_of, problem_key
from paretosoc.dse.tools.campaign.store.pack import compress, pack
from paretosoc.dse.tools.campaign.store.run import (
    BaselineFigures,
    FrontFigures,
    RunOutcome,
    RunStatus,
    RunTask,
)
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.profiles.loss_table import load_losses
from paretosoc.fitness.profiles.profile_file import Profile, load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.costs_file import costs_bytes
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import (
    BOUNDS_FILE,
    CERTIFICATE,
    COSTS_FILE,
    EPSILON,
    FRONT_FILE,
    REPORT_FILE,
)
from paretosoc.results.front.certificate import bounds_bytes, proof_files
from paretosoc.results.front.front import Front
from paretosoc.results.front.front_document import front_to_document
from paretosoc.results.io.canonical_json import canonical_bytes, sha256_of
from paretosoc.results.problem.problem_file import problem_bytes

MAX_PROBLEMS = 4
MAX_NETWORKS = 64
"""Problems and networks that a worker remembers: enough for runs in the order of the plan."""


@dataclass(frozen=True, eq=False)
class _Prepared:
    built: BuiltProblem
    platform: str
    sha256: str
    compressed: bytes


_problems: OrderedDict[Hashable, _Prepared] = OrderedDict()
_networks: OrderedDict[Hashable, NetworkTables] = OrderedDict()


@called_from(Door.CAMPAIGN)
def explore_run(task: RunTask) -> RunOutcome:
    """Run in one thread. The memory of a worker between runs (costs, groups) never changes the
    result.

    Raises:
        WorkloadError: if the program or a file is not the one of the inputs.
        GraphError, PlatformError, ResultError: on input that cannot be used.
    """
    began, cpu_began = time.perf_counter(), time.process_time()
    inputs, settings = task.inputs, task.inputs.settings
    if inputs.program != program_identity():
        raise WorkloadError(
            f"this worker has another program ({program_identity()}) than the campaign's "
            f"({inputs.program}); install the same one everywhere"
        )
    optimizer = optimizer_named(settings.engine)
    prepared = _prepared(inputs)
    cpu_search = time.process_time()
    try:
        front = explore_problem(
            prepared.built,
            SearchSettings(
                max_evaluations=settings.max_evaluations,
                start=None if task.start is None else np.array(task.start, dtype=np.int64),
                seed=settings.seed,
                jobs=1,
            ),
            platform=prepared.platform,
            optimizer=optimizer,
        )
    except InfeasibleError as error:
        return RunOutcome(
            RunStatus.INFEASIBLE,
            message=str(error),
            problem_sha256=prepared.sha256,
            seconds=time.perf_counter() - began,
            cpu_seconds=time.process_time() - cpu_began,
            search_cpu_seconds=time.process_time() - cpu_search,
        )
    message = ""
    proofs: dict[str, bytes] = {}
    if front.provenance.stopped_by == "interrupt":
        # No failure of this run, which would be repeated: whoever interrupts ends the campaign.
        raise KeyboardInterrupt
    if settings.prove or needs_proof(optimizer):
        goal = Goal.WHOLE_FRONT if settings.prove else goal_of(optimizer)
        front, proofs, message = _timeless_proof(front, goal)
    cpu_searched = time.process_time()
    # Seconds are kept in the store. In the result they would make all results differ.
    front = replace(front, provenance=replace(front.provenance, seconds=0.0))
    files = _files(front, prepared, inputs, proofs)
    return RunOutcome(
        RunStatus.FINISHED,
        message=message,
        figures=_figures(front),
        evaluations=front.provenance.evaluations,
        problem_sha256=prepared.sha256,
        problem=prepared.compressed if "front" in inputs.keep else None,
        pack=pack(files) if files else None,
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - cpu_began,
        search_cpu_seconds=cpu_searched - cpu_search,
    )


def built_problem(inputs: RunInputs) -> BuiltProblem:
    """Return the problem of a run, built or remembered.

    Raises:
        GraphError, PlatformError, ResultError, WorkloadError: on input that cannot be used.
    """
    return _prepared(inputs).built


def _prepared(inputs: RunInputs) -> _Prepared:
    """Return the numeric problem, built or remembered, using only the files in the hash."""
    settings = inputs.settings
    key = (problem_key(settings), inputs.contents)
    if key in _problems:
        _problems.move_to_end(key)
        return _problems[key]
    chip = load_platform(settings.platform)
    profile = None if settings.profile is None else load_profile(settings.profile, chip)
    losses = None if settings.losses is None else load_losses(settings.losses)
    workload = workload_from(settings.networks)
    options = with_defaults(options_of(settings), chip, workload)
    build = partial(build_problem, workload, chip, options, profile=profile, losses=losses)
    built = build(known=_networks)
    if _missing(inputs, built, profile):
        # A file may have changed since this process has read it.
        _networks.clear()
        built = build(known=_networks)
    if missing := _missing(inputs, built, profile):
        raise WorkloadError(
            f"{missing}: is not the file that the campaign was planned with; it was changed, or "
            "is another one on this machine. Start the campaign again to plan anew"
        )
    while len(_networks) > MAX_NETWORKS:
        _networks.popitem(last=False)
    data = problem_bytes(built.problem)
    prepared = _Prepared(built, chip.name, sha256_of(data), compress(data))
    _problems[key] = prepared
    while len(_problems) > MAX_PROBLEMS:
        _problems.popitem(last=False)
    return prepared


def _missing(inputs: RunInputs, built: BuiltProblem, profile: Profile | None) -> str | None:
    """Return the first part of the contents that differs from the files read."""
    read = {entry.sha256 for entry in built.inputs} | {profile.sha256 if profile else None}
    return next((what for what, digest in inputs.contents if digest not in read), None)


def _timeless_proof(front: Front, goal: Goal) -> tuple[Front, dict[str, bytes], str]:
    """Return the front with its claims, the proof's files by name, and why something is not proved,
    if so. Limits are numbers of nodes. Only a solver out of time (two minutes for one formula) can
    differ between machines. Raise KeyboardInterrupt if it was interrupted."""
    try:
        proof = prove_front(front, goal=goal, jobs=1)
    except ResultError as error:
        return front, {}, f"not certified: {error}"
    if proof.interrupted:
        raise KeyboardInterrupt
    files: dict[str, bytes] = {}
    for name, made in ((CERTIFICATE, proof.certificate), (EPSILON, proof.epsilon)):
        if made is not None:
            certificate = made.certificate
            timeless = replace(
                certificate,
                search_seconds=0.0,
                check_seconds=None if certificate.check_seconds is None else 0.0,
                cover_seconds=None if certificate.cover_seconds is None else 0.0,
            )
            files |= proof_files(name, replace(made, certificate=timeless))
    if proof.bounds is not None:
        files[BOUNDS_FILE] = bounds_bytes(replace(proof.bounds, seconds=0.0))
    claims: dict[str, Any] = {
        name: replace(claim, seconds=0.0)
        for name in ("bounds", "certificate", "epsilon")
        if (claim := getattr(proof.front, name)) is not None
    }
    refused = proof.refused
    message = "" if refused is None else f"the front is not proved: {refused}"
    return replace(proof.front, **claims), files, message


def _figures(front: Front) -> FrontFigures:
    return FrontFigures(
        names=front.problem.objective_names,
        objectives=tuple(member.objectives for member in front.members),
        rows=tuple(tuple(member.design.row.tolist()) for member in front.members),
        baselines=tuple(
            BaselineFigures(point.name, point.member.objectives, not point.breaks)
            for point in front.baselines
        ),
    )


def _files(
    front: Front, prepared: _Prepared, inputs: RunInputs, proofs: dict[str, bytes]
) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if "front" in inputs.keep:
        document = front_to_document(front)
        files |= {FRONT_FILE: canonical_bytes(document), **proofs}
    costs = cost_origins(prepared.built) if {"costs", "report"} & set(inputs.keep) else None
    if costs is not None and "costs" in inputs.keep:
        files[COSTS_FILE] = costs_bytes(costs, front.problem)
    if "report" in inputs.keep:
        from paretosoc.fitness.execution import schedule_of
        from paretosoc.results.export.report import report_html

        files[REPORT_FILE] = report_html(front, schedule_of, costs).encode()
    return files
