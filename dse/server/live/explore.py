"""What is shown live of an exploration and of a campaign."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.compiling import compiling
from paretosoc.common.units import PPM
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.certificate.branch_and_bound import SearchProgress
from paretosoc.dse.certificate.certify import with_rows
from paretosoc.dse.certificate.preconditions import certified_column
from paretosoc.dse.search.driver import Progress
from paretosoc.dse.server.live.serve import live_page
from paretosoc.dse.space.members import make_members
from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.dse.version import program_version
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.errors import ResultError
from paretosoc.results.export.report import report_html
from paretosoc.results.export.report_data import report_data
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.dominance import knee, reference_point
from paretosoc.results.front.epsilon import is_weak
from paretosoc.results.front.front import CertificateSummary, Front, HypervolumePoint, Provenance
from paretosoc.results.io.canonical_json import Json

MAX_POINTS = 300
"""Of a curve: of more, every second one is dropped."""
REDRAW_S = 0.5
"""At least between two drawings of a run that goes on, which takes the time from the search."""
MAX_MEMBERS = 200
"""On the page while it runs, and at the end with schedules: a thousand take seconds to simulate,
and a browser as long to draw."""
Phase = Literal["starting", "searching", "proving", "ended"]
T = TypeVar("T")


class LiveExploration:
    """View of an exploration. The run reports events, the server asks for content."""

    def __init__(
        self, problem: Problem, output: Path, *, engine: str, seed: int, evaluations: int | None
    ) -> None:
        """Create the view. ``output``: folder of the run, which the page names at the end.
        ``evaluations``: at most so many, or None if only a time limit ends the search."""
        self._problem, self._output = problem, output.resolve()
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
        self._redraw_at = float("-inf")

    def searching(self, progress: Progress) -> None:
        """Record that the search has evaluated a batch."""
        with self._lock:
            self._phase, self._search = "searching", progress
            self._count += 1
            if len(progress.objectives):
                self._convergence.append((progress.evaluations, progress.hypervolume))
                self._convergence = _thinned(self._convergence)

    def proving(self, progress: SearchProgress) -> None:
        """Record that the proof has closed some nodes. Its bounds never fall, nor do those of
        several searches."""
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
        """Record that all is done, or that Ctrl-C has ended the run."""
        with self._lock:
            self._phase, self._ended = "ended", front
            self._count += 1

    def page(self) -> str:
        """Return the page (see :class:`dse.server.live.serve.View`)."""
        names = " + ".join(network.name for network in self._problem.numeric.networks)
        return live_page(f"{names} on {self._problem.platform.name}", "explore")

    def state(self, query: Mapping[str, str]) -> Json:
        """Return the state. It includes the front only if that is newer than the ``version`` that
        the page has drawn."""
        with self._lock:
            search, proof, phase, ended = self._search, self._proof, self._phase, self._ended
            version = f"{self._run}-{self._count}"
            bounds: list[Json] = [
                [seconds, count, within / PPM] for seconds, count, within in self._bounds
            ]
            weak = bool(self._bounds) and is_weak(self._bounds[-1][2])
        drawn, front = self._front_data(version, is_last=ended is not None)
        now = compiling()
        document: dict[str, Json] = {
            "version": drawn,
            "phase": phase,
            "evaluations": 0 if search is None else search.evaluations,
            "max_evaluations": self._evaluations,
            "seconds": 0.0 if search is None else search.seconds,
            "members": len(ended.members) if ended else 0 if search is None else search.members,
            "result": None if ended is None else str(self._output),
            "nodes": None if proof is None else proof.nodes,
            "compiling": None if now is None else {"functions": now[0], "seconds": now[1]},
            "weak": weak,
            "bounds": bounds,
        }
        if query.get("version") != drawn:
            document["front"] = front
        return document

    def report(self, name: str) -> str | None:
        """Return None, since an exploration has one page."""
        return None

    def _front_data(self, version: str, *, is_last: bool) -> tuple[str, Json]:
        """Return the data that the page draws, and their version. Within ``REDRAW_S`` both stay
        those of the last drawing."""
        with self._drawing:
            if self._drawn[0] != version and (is_last or time.monotonic() >= self._redraw_at):
                front = self._front()
                data = (
                    None
                    if front is None
                    else report_data(
                        front,
                        schedule_of,
                        self._problem.costs,
                        max_schedules=MAX_MEMBERS,
                        resolutions=(0.0,),
                    )
                )
                self._drawn = (version, data)
                self._redraw_at = time.monotonic() + REDRAW_S
            return self._drawn

    def _front(self) -> Front | None:
        with self._lock:
            ended = self._ended
            search, proof = self._search, self._proof
            convergence, bounds = list(self._convergence), list(self._bounds)
        if ended is not None:
            # All of its members: their numbers are those of the result.
            return ended
        if search is None or len(search.objectives) == 0:
            return None
        front = self._from_search(search, convergence)
        if proof is None:
            return front
        front = with_rows(front, proof.rows)
        if bounds:
            front = _with_bound(front, *bounds[-1], nodes=proof.nodes)
            if len(search.objectives) > MAX_MEMBERS:
                front = replace(front, epsilon=None)
        return _few_members(front)

    def _from_search(self, search: Progress, convergence: list[tuple[int, float]]) -> Front:
        problem, built = self._problem.numeric, self._problem.built
        final, few = convergence[-1][1], _few(search.objectives)
        return Front(
            problem=problem,
            members=make_members(problem, search.rows[few], search.objectives[few]),
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
    """Return the front with the current claim, which still has a gap."""
    names = front.problem.objective_names
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


def _few(objectives: IntArray) -> IntArray:
    """Return rising positions of at most ``MAX_MEMBERS`` rows [members, objectives]: those with a
    name, and others at even distances along the first objective."""
    order = np.lexsort(objectives.T[::-1])
    if len(order) <= MAX_MEMBERS:
        return np.arange(len(order))
    kept = {*objectives.argmin(axis=0).tolist(), knee(objectives)}
    even = np.linspace(0, len(order) - 1, MAX_MEMBERS - len(kept)).astype(np.int64)
    return np.array(sorted({*order[even].tolist(), *kept}))


def _few_members(front: Front) -> Front:
    """Return the front with few members. A claim about the best member at an objective stays, since
    that one is kept. A claim of completeness is dropped, since it would not hold for few members.
    """
    few = _few(front.objective_array).tolist()
    if len(few) == len(front.members):
        return front
    claim = front.certificate
    if claim is not None:
        claim = replace(claim, members=tuple(few.index(member) for member in claim.members))
    members = tuple(front.members[member] for member in few)
    return replace(front, members=members, certificate=claim, epsilon=None)


def _thinned(curve: list[T]) -> list[T]:
    """Return a long curve with every second point, the last one included."""
    return curve if len(curve) <= MAX_POINTS else curve[(len(curve) - 1) % 2 :: 2]


MAX_RUNS = 200
"""Shown of one state."""


class LiveCampaign:
    """View of a campaign. Reads the store like any other process, one connection per request."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._progress: CampaignProgress | None = None
        self._ended = False

    def running(self, progress: CampaignProgress) -> None:
        """Record that some runs are done."""
        self._progress = progress

    def ended(self) -> None:
        """Record that no run is left, or that Ctrl-C has ended the campaign."""
        self._ended = True

    def page(self) -> str:
        """Return the page (see :class:`dse.server.live.serve.View`)."""
        with Store(self._folder) as store:
            return live_page(store.title, "campaign")

    def state(self, query: Mapping[str, str]) -> Json:
        """Return counts by state, and the runs of the state that is asked for."""
        asked = query.get("state")
        status = next((s for s in RunStatus if s.value == asked), RunStatus.FINISHED)
        with Store(self._folder) as store:
            counts = store.counts()
            runs: list[Json] = [
                {
                    "name": run.name,
                    "hash": run.hash,
                    "members": run.members,
                    "seconds": run.seconds,
                    "error": "".join((run.error or "").strip().splitlines()[-1:]),
                    "report": run.pack_sha256 is not None and "front" in run.inputs.keep,
                }
                for run in store.records(status, most=MAX_RUNS, figures=False)
            ]
        progress = self._progress
        return {
            "phase": "ended" if self._ended else "running",
            "running": 0 if progress is None else progress.running,
            "seconds_left": None if progress is None else progress.seconds_left,
            "counts": {entry.value: count for entry, (count, _) in counts.items()},
            "state": status.value,
            "runs": runs,
        }

    def report(self, name: str) -> str | None:
        """Return the report of a run, by its hash."""
        try:
            with Store(self._folder) as store:
                front, costs = store.front(store.find(name))
        except ResultError:
            return None
        return report_html(front, schedule_of, costs)
