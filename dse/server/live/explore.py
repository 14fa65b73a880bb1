"""An exploration as it runs: its front, the bound that is proved so far, and how both came."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeVar

from common.units import PPM
from dse.api.problem import Problem
from dse.certificate.branch_and_bound import SearchProgress
from dse.certificate.certify import with_rows
from dse.certificate.preconditions import certified_column
from dse.search.driver import Progress
from dse.server.live.page import live_page
from dse.space.members import make_members
from dse.version import program_version
from fitness.execution import schedule_of
from results.export.report_data import report_data
from results.front.certificate import CertificateStatus
from results.front.dominance import reference_point
from results.front.front import CertificateSummary, Front, HypervolumePoint, Provenance
from results.io.canonical_json import Json
from results.problem.objectives import objective_names

MAX_POINTS = 300
"""Of a curve: of more, every second one is dropped."""
Phase = Literal["starting", "searching", "proving", "ended"]
T = TypeVar("T")


class LiveExploration:
    """Told by the run what happens, asked by the server what there is to see."""

    def __init__(self, problem: Problem, *, engine: str, seed: int, evaluations: int) -> None:
        self._problem = problem
        self._engine, self._seed, self._evaluations = engine, seed, evaluations
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._run = secrets.token_hex(4)
        self._count = 0
        self._phase: Phase = "starting"
        self._search: Progress | None = None
        self._proof: SearchProgress | None = None
        self._convergence: list[tuple[int, float]] = []
        self._proof_began = 0.0
        self._bounds: list[tuple[float, int, int]] = []
        """Seconds of the proof, how many objectives count, and within how many millionths."""
        self._ended: Front | None = None
        self._drawn: tuple[str, Json] = ("", None)

    def searching(self, progress: Progress) -> None:
        """The search has evaluated a batch."""
        with self._lock:
            self._phase, self._search = "searching", progress
            self._count += 1
            if len(progress.objectives):
                self._convergence.append((progress.evaluations, progress.hypervolume))
                self._convergence = _thinned(self._convergence)

    def proving(self, progress: SearchProgress) -> None:
        """The proof has closed some nodes; its bounds never fall, of several searches neither."""
        with self._lock:
            self._phase = "proving"
            self._count += 1
            if self._proof is None:
                self._proof_began = time.monotonic() - progress.seconds
            self._proof = progress
            if progress.epsilon_ppm is not None:
                same = [within for _, of, within in self._bounds if of == progress.objectives]
                within = min([progress.epsilon_ppm, *same[-1:]])
                elapsed = time.monotonic() - self._proof_began
                self._bounds.append((elapsed, progress.objectives, within))
                self._bounds = _thinned(self._bounds)

    def ended(self, front: Front) -> None:
        """All is done, or Ctrl-C has ended it."""
        with self._lock:
            self._phase, self._ended = "ended", front
            self._count += 1

    def page(self) -> str:
        """See :class:`dse.server.live.serve.View`."""
        names = " + ".join(network.name for network in self._problem.numeric.networks)
        return live_page(f"{names} on {self._problem.platform.name}", "explore")

    def state(self, query: Mapping[str, str]) -> Json:
        """The front is only in it where the page has not seen this one yet (``version``)."""
        with self._lock:
            search, proof, phase = self._search, self._proof, self._phase
            version = f"{self._run}-{self._count}"
            bounds: list[Json] = [
                [seconds, count, within / PPM] for seconds, count, within in self._bounds
            ]
        document: dict[str, Json] = {
            "version": version,
            "phase": phase,
            "evaluations": 0 if search is None else search.evaluations,
            "max_evaluations": self._evaluations,
            "seconds": 0.0 if search is None else search.seconds,
            "members": 0 if search is None else search.members,
            "nodes": None if proof is None else proof.nodes,
            "bounds": bounds,
        }
        if query.get("version") != version:
            document["front"] = self._front_data(version)
        return document

    def report(self, name: str) -> str | None:
        """An exploration has one page."""
        return None

    def _front_data(self, version: str) -> Json:
        """What the page draws; built once for all that ask."""
        with self._drawing:
            if self._drawn[0] != version:
                front = self._front()
                data = (
                    None if front is None else report_data(front, schedule_of, self._problem.costs)
                )
                self._drawn = (version, data)
            return self._drawn[1]

    def _front(self) -> Front | None:
        with self._lock:
            if self._ended is not None:
                return self._ended
            search, proof = self._search, self._proof
            convergence, bounds = list(self._convergence), list(self._bounds)
        if search is None or len(search.objectives) == 0:
            return None
        front = self._from_search(search, convergence)
        if proof is None:
            return front
        front = with_rows(front, proof.rows)
        return front if not bounds else _with_bound(front, *bounds[-1], nodes=proof.nodes)

    def _from_search(self, search: Progress, convergence: list[tuple[int, float]]) -> Front:
        problem, built = self._problem.numeric, self._problem.built
        final = convergence[-1][1]
        return Front(
            problem=problem,
            members=make_members(problem, search.rows, search.objectives),
            provenance=Provenance(
                version=program_version(),
                engine=self._engine,
                seed=self._seed,
                evaluations=search.evaluations,
                stopped_by="nothing yet",
                seconds=search.seconds,
                inputs=built.inputs,
                platform=self._problem.platform.name,
                precision=built.precision,
                command="",
                convergence=tuple(
                    HypervolumePoint(count, volume / final if final else 0.0)
                    for count, volume in convergence
                ),
                reference_point=tuple(reference_point(search.objectives).tolist()),
            ),
        )


def _with_bound(front: Front, seconds: float, objectives: int, within: int, *, nodes: int) -> Front:
    """The front with a claim that has a gap: what is proved so far."""
    names = objective_names(front.problem)
    claim = CertificateSummary(
        status=CertificateStatus.GAP,
        objectives=names,
        members=tuple(range(len(front.members))),
        epsilon_ppm=within,
        space="",
        lemmas=0,
        nodes=nodes,
        solvers=(),
        seconds=seconds,
    )
    if objectives == len(names):
        return replace(front, epsilon=claim)
    column = certified_column(front.problem)
    if column is None:
        return front
    best = min(range(len(front.members)), key=lambda m: front.members[m].objectives[column])
    return replace(front, certificate=replace(claim, objectives=(names[column],), members=(best,)))


def _thinned(curve: list[T]) -> list[T]:
    """Its ends stay."""
    return curve if len(curve) <= MAX_POINTS else curve[(len(curve) - 1) % 2 :: 2]
