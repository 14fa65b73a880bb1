"""Access of a client of the server (names of the catalogue, files in one folder), and typed
answers: small, in the units of people."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import paretosoc as dse
from paretosoc.common.text import has_control_characters
from paretosoc.dse.api.evaluation import Evaluated
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.documents import read_input
from paretosoc.dse.workload.workload import find_network
from paretosoc.platforms.io.exact_json import parse_exact
from paretosoc.platforms.io.platform_file import platform_names
from paretosoc.results.front.mapping_gain import describe_mapping_gain
from paretosoc.results.text.compare_fronts import FrontComparison, FrontSide
from paretosoc.sdf.formats import is_graph_file

MAX_NETWORKS = 8
MAX_PATH_BYTES = 200
"""File systems take 255 for a name; ours have endings, too."""
MAX_EVALUATIONS = 100_000
MAX_PROOF_S = 60.0
MAX_ROWS = 50
MAX_STARTED = 8


class Workspace:
    """A folder. Every path of a client is relative to it and stays inside, links included."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise WorkloadError(f"{root}: there is no such folder")
        self.root = root.resolve()

    def path(self, text: str) -> Path:
        """Return a path inside the folder.

        Raises:
            WorkloadError: if it leads outside.
        """
        if not has_control_characters(text) and len(os.fsencode(text)) <= MAX_PATH_BYTES:
            path = (self.root / text).resolve()
            if path != self.root and path.is_relative_to(self.root):
                return path
        raise WorkloadError(f"{text!r}: a path inside the server's folder is required")

    def result(self, text: str) -> Path:
        """Return a folder inside the workspace whose files are inside, too.

        Raises:
            WorkloadError: if it or a link in it leads outside.
        """
        folder = self.path(text)
        for entry in folder.iterdir() if folder.is_dir() else ():
            self.path(f"{text}/{entry.name}")
        return folder

    def network(self, text: str) -> str:
        """Return a name of the catalogue, or an ``.onnx`` or ``.xml`` file of the folder, each
        also ``*COPIES``.

        Raises:
            WorkloadError: on a file outside, and on workload files, which name further files.
        """

        source, copies = find_network(
            text,
            lambda file: (
                str(self.path(file)) if file.endswith(".onnx") or is_graph_file(file) else ""
            ),
        )
        return f"{source}*{copies}"

    def platform(self, text: str) -> str:
        """Return a name, or a JSON file of the folder that extends nothing but a name.

        Raises:
            WorkloadError: on a file outside, or one that extends a file.
        """
        if text in platform_names():
            return text
        if not text.endswith(".json"):
            names = ", ".join(platform_names())
            raise WorkloadError(f"platform {text!r}: {names} or a .json file is required")
        path = self.path(text)
        document = parse_exact(read_input(path), text)
        base = document.get("extends") if isinstance(document, dict) else None
        if base is not None and base not in platform_names():
            raise WorkloadError(f"platform {text!r}: extends must be a name, got {base!r}")
        return str(path)


@dataclass(frozen=True)
class MemberRow:
    """A member of a front and how many it stands for: ``objectives`` by label, in ms, mJ, W or
    rates. Clocks: None if off."""

    member: int
    marks: list[str]
    stands_for: int
    objectives: dict[str, float]
    groups_by_unit: dict[str, int]
    clocks_mhz: dict[str, float | None]


@dataclass(frozen=True)
class FrontAnswer:
    """A front: ``rows`` are its choices, ``claims`` the proofs, ``mapping_gain`` what mapping is
    worth."""

    folder: str
    networks: list[str]
    platform: str
    members: int
    rows: list[MemberRow]
    mapping_gain: str | None
    claims: list[str]
    warnings: list[str]


@dataclass
class ProgressAnswer:
    """A search: ``state`` is waiting, searching, proving, done or failed, then with an ``error``.
    ``folder`` is its output, for ``poll`` and ``show``. It changes while the search runs."""

    folder: str
    state: str = "waiting"
    evaluations: int = 0
    members: int = 0
    error: str | None = None

    @property
    def ended(self) -> bool:
        """Return whether nothing will change any more."""
        return self.state in ("done", "failed")


@dataclass(frozen=True)
class EvaluationAnswer:
    """A simulated mapping: ``broken`` are the constraints that it does not keep."""

    objectives: dict[str, float]
    latencies_ms: dict[str, float]
    feasible: bool
    broken: list[str]


@dataclass(frozen=True)
class CheckAnswer:
    """One check of a result folder: ``verdict`` is holds, fails or not checked."""

    name: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class VerificationAnswer:
    """All checks. ``holds`` is true only if each of them holds."""

    holds: bool
    checks: list[CheckAnswer]


@dataclass(frozen=True)
class SideAnswer:
    """One of two fronts: hypervolume as a share of that of both together."""

    members: int
    hypervolume: float
    coverage: float
    additive_epsilon: float


@dataclass(frozen=True)
class ComparisonAnswer:
    """Two fronts. ``differences`` of their problems are empty if these are the same."""

    first: SideAnswer
    second: SideAnswer
    differences: list[str]


def front_answer(
    front: dse.Front,
    folder: str,
    resolution: float | None = None,
    *,
    warnings: tuple[str, ...] = (),
) -> FrontAnswer:
    """Return the choices of a front as an answer: at most ``MAX_ROWS``, or all named members."""
    choices = front.rows(resolution)
    marked = [row for row in choices if row["marks"]]
    others = [row for row in choices if not row["marks"]][: max(MAX_ROWS - len(marked), 0)]
    kept = sorted([*marked, *others], key=lambda row: row["member"])
    gain = describe_mapping_gain(front.numeric)
    return FrontAnswer(
        folder=folder,
        networks=[network.name for network in front.problem.networks],
        platform=front.numeric.provenance.platform,
        members=len(front),
        rows=[
            MemberRow(
                row["member"],
                row["marks"],
                row["stands_for"],
                row["display"],
                row["groups_by_unit"],
                row["clocks_mhz"],
            )
            for row in kept
        ],
        mapping_gain=None if gain is None else gain.text,
        claims=list(front.claims),
        warnings=list(warnings),
    )


def evaluation_answer(evaluated: Evaluated) -> EvaluationAnswer:
    """Return a simulated mapping as an answer."""
    member = evaluated.member
    return EvaluationAnswer(
        objectives=member.display,
        latencies_ms=dict(member.latencies_ms),
        feasible=evaluated.feasible,
        broken=[
            str(state.to_document()["name"]) for state in evaluated.constraints if not state.met
        ],
    )


def comparison_answer(comparison: FrontComparison) -> ComparisonAnswer:
    """Return a comparison as an answer."""

    def side(one: FrontSide) -> SideAnswer:
        return SideAnswer(one.members, one.hypervolume, one.coverage, one.additive_epsilon)

    return ComparisonAnswer(
        side(comparison.first), side(comparison.second), list(comparison.differences)
    )
