"""A result folder: ``front.json``, ``problem.json``, ``costs.json``, the pictures; or, of a problem
that adds nothing to a front, ``problem.json`` and the proof. Written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.files import naming, read_file
from paretosoc.common.options import overwriting
from paretosoc.common.plugins import Registry
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.costs.costs_file import costs_bytes, costs_from_bytes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import (
    ProofArtifacts,
    bounds_bytes,
    bounds_from_bytes,
    certificate_from_bytes,
    proof_files,
)
from paretosoc.results.front.epsilon import open_corners, region_reaches
from paretosoc.results.front.front import Front
from paretosoc.results.front.front_document import FRONT, front_from_document, front_to_document
from paretosoc.results.front.proof_tree import tree_from_bytes
from paretosoc.results.io.atomic_folder import FolderKind
from paretosoc.results.io.canonical_json import canonical_bytes, parse, sha256_of
from paretosoc.results.plots.front import draw_front
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_bytes, problem_from_bytes

if TYPE_CHECKING:
    from paretosoc.results.plots.bars import Intervals

T = TypeVar("T")
FRONT_FILE = "front.json"
PROBLEM_FILE = "problem.json"
COSTS_FILE = "costs.json"
BOUNDS_FILE = "bounds.json"
REPORT_FILE = "report.html"
CAMPAIGN_FILE = "campaign.sqlite"
"""Database of a campaign, whose folder holds many results."""
CERTIFICATE, EPSILON = "certificate", "epsilon"
"""Names of proofs: of the whole front or its best member, and of the whole front within an
epsilon."""
RESULT_FILES = frozenset(
    {
        *(FRONT_FILE, PROBLEM_FILE, COSTS_FILE, BOUNDS_FILE, "front.svg", "front.png", REPORT_FILE),
        *(
            f"{name}.{ending}"
            for name in (CERTIFICATE, EPSILON)
            for ending in ("json", "tree", "smt2")
        ),
    }
)
"""All names that the folder of a front may hold. One with anything else is never replaced."""
OTHER_RESULTS: Registry[Any] = Registry(
    "paretosoc.results",
    "a kind of result",
    lambda found: all(hasattr(found, name) for name in ("words", "load", "verify")),
    "a class with words, load and verify",
    error=ResultError,
)
"""Other kinds of results, by the name of their file: ``NAME.json``."""


def write_results(
    folder: Path,
    front: Front,
    *,
    costs: CostOrigins | None = None,
    certificate: ProofArtifacts | None = None,
    epsilon: ProofArtifacts | None = None,
    bounds: BoundProof | None = None,
    intervals: Intervals | None = None,
    overwrite: bool = False,
    pictures: bool = True,
    report: bytes | None = None,
) -> None:
    """Write a result folder: ``front.json``, ``problem.json``, ``costs.json`` (with ``costs``),
    ``certificate`` and ``epsilon`` as ``.json``, ``.tree`` and ``.smt2`` (if given),
    ``bounds.json`` (with ``bounds``), ``report.html`` (with ``report``) and, for a front with
    members, ``front.svg``, with the ``intervals`` of choices.

    Everything goes to a hidden folder beside the target first, which is then renamed: at no
    instant is there a half-written result. With ``overwrite`` an older result is replaced.

    Raises:
        ResultError: if the front is not sound or the costs are not its own, the target exists
            (without ``overwrite``) or holds anything but a result of ours (with it), or cannot be
            written.
    """
    files = {
        PROBLEM_FILE: problem_bytes(front.problem),
        FRONT_FILE: canonical_bytes(front_to_document(front)),
    }
    if costs is not None:
        files[COSTS_FILE] = costs_bytes(costs, front.problem)
    for name, proof in ((CERTIFICATE, certificate), (EPSILON, epsilon)):
        if proof is not None:
            files |= proof_files(name, proof)
    if bounds is not None:
        files[BOUNDS_FILE] = bounds_bytes(bounds)
    if report is not None:
        files[REPORT_FILE] = report
    if pictures and front.members and len(front.problem.objectives) > 1:
        files["front.svg"] = draw_front(front, intervals).picture().svg()
    write_folder(folder, files, overwrite=overwrite)


class _ResultFolder(FolderKind):
    """The folder of a front, or of a proof that there is none."""

    def check(self, folder: Path, *, overwrite: bool) -> None:
        """Accept a folder that :func:`write_results` may write. Call it before a long search.

        Raises:
            ResultError: if the folder exists and ``overwrite`` is false, or if it is neither empty
                nor a result folder.
        """
        is_ours = _is_ours(folder / FRONT_FILE, FRONT.format)
        if is_ours and not overwrite:
            raise ResultError(
                f"{folder}: exists already; {overwriting()} replaces it, 'dse certify {folder}' "
                "continues its proof"
            )
        super().check(folder, overwrite=overwrite)
        try:
            if not is_ours and folder.is_dir() and any(folder.iterdir()):
                raise ResultError(f"{folder}: is not replaced, it holds no {FRONT_FILE} of ours")
        except OSError as error:
            raise ResultError(f"{folder}: cannot be read: {error.strerror}") from None


RESULT_FOLDER = _ResultFolder(RESULT_FILES)
check_output_folder, write_folder = RESULT_FOLDER.check, RESULT_FOLDER.write


def _is_ours(path: Path, form: str) -> bool:
    """Return whether the file says at its beginning that it has this format, in any version."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(200)
    return f'"format": "{form.split("/")[0]}/'.encode() in head


def read_results(folder: Path, *, check_hashes: bool = True) -> Front:
    """Return the front in a result folder, with its problem.

    Args:
        check_hashes: refuse files that were changed, or that do not belong together.

    Raises:
        ResultError: if the folder holds results of another kind, or a file is missing, cannot be
            read, does not follow its schema, was changed, or does not belong to the other. It names
            the file and the JSON path.
    """
    front_path = folder / FRONT_FILE
    require_result_folder(folder)
    if (kind := other_kind(folder)) is not None:
        hint = "show, report, plot, trace and verify take these"
        if below := min(folder.glob(f"*/{FRONT_FILE}"), default=None):
            hint = f"use the folder of one front, such as {below.parent}"
        raise ResultError(f"{folder}: a front is required, got {kind.words}; {hint}")
    if not front_path.exists() and other_kind(folder.parent) is not None:
        raise ResultError(
            f"{folder}: has no front, but a proof that those beside it need none of it"
        )
    problem, front_data = read_problem(folder, check_hashes=check_hashes), _read(front_path)
    with naming(front_path, ResultError):
        return front_from_document(parse(front_data), problem, check_hashes=check_hashes)


def read_problem(folder: Path, *, check_hashes: bool = True) -> Problem:
    """Return the problem in a result folder.

    Raises:
        ResultError: as :func:`read_results`.
    """
    path = folder / PROBLEM_FILE
    data = _read(path)
    with naming(path, ResultError):
        problem = problem_from_bytes(data)
    if check_hashes and problem_bytes(problem) != data:
        raise ResultError(f"{path}: $: was laid out anew after it was written")
    return problem


def other_kind(folder: Path) -> Any:
    """Return the class of the results in a folder (like :class:`dse.api.result.Result`), or None if
    they are those of a front, or none."""
    if (folder / FRONT_FILE).exists():
        return None
    for name in OTHER_RESULTS.names():
        if (folder / f"{name}.json").is_file():
            return OTHER_RESULTS.get(name, str(folder))
    return None


def require_result_folder(folder: Path) -> None:
    """Accept a folder with at least one file of a result.

    Raises:
        ResultError: if there is none.
    """
    if folder.is_file():
        raise ResultError(
            f"{folder}: the folder of a result is required, got a file; 'dse explore' writes one"
        )
    if not folder.is_dir():
        raise ResultError(f"{folder}: there is no such folder")
    if (folder / CAMPAIGN_FILE).exists():
        raise ResultError(
            f"{folder}: the folder of a result is required, got a campaign's; 'dse campaign "
            "extract' writes that of a run"
        )
    if not any((folder / name).exists() for name in RESULT_FILES) and other_kind(folder) is None:
        raise ResultError(f"{folder}: the folder of a result is required, it has no {FRONT_FILE}")


def read_costs(folder: Path, problem: Problem, *, check_hashes: bool = True) -> CostOrigins | None:
    """Return the origins of the costs of ``problem``, or None if the folder has none.

    Args:
        check_hashes: refuse a file that was changed, or that is of another problem.

    Raises:
        ResultError: if ``costs.json`` cannot be read, does not follow its schema, was changed, or
            is not of this problem. It names the file and the JSON path.
    """
    parse_costs = partial(costs_from_bytes, problem=problem, check_hashes=check_hashes)
    return _read_if_there(folder / COSTS_FILE, parse_costs)


def read_certificate(
    folder: Path, problem: Problem, *, name: str = CERTIFICATE, check_hashes: bool = True
) -> ProofArtifacts | None:
    """Return a certificate, the tree and the SMT-LIB text beside it, or None if the folder has
    none.

    Args:
        name: ``CERTIFICATE`` or ``EPSILON``.

    Raises:
        ResultError: as :func:`read_costs`.
    """
    path, tree_path, text_path = (folder / f"{name}.{end}" for end in ("json", "tree", "smt2"))
    parse_claim = partial(certificate_from_bytes, problem=problem, check_hashes=check_hashes)
    certificate = _read_if_there(path, parse_claim)
    if certificate is None:
        return None
    data = _read(tree_path)
    if check_hashes and sha256_of(data) != certificate.tree_sha256:
        raise ResultError(f"{tree_path}: was changed after it was written")
    with naming(tree_path, ResultError):
        tree = tree_from_bytes(data)
    text = _read_if_there(text_path, partial(bytes.decode, errors="replace"))
    return ProofArtifacts(certificate, tree, text)


def read_bounds(folder: Path, problem: Problem, *, check_hashes: bool = True) -> BoundProof | None:
    """Return the bounds over boxes, or None if the folder has none.

    Raises:
        ResultError: as :func:`read_costs`.
    """
    parse_bounds = partial(bounds_from_bytes, problem=problem, check_hashes=check_hashes)
    return _read_if_there(folder / BOUNDS_FILE, parse_bounds)


def _read_if_there(path: Path, parse_bytes: Callable[[bytes], T]) -> T | None:
    if not path.exists():
        return None
    data = _read(path)
    with naming(path, ResultError):
        return parse_bytes(data)


def _read(path: Path) -> bytes:
    if not path.exists():
        raise ResultError(f"{path}: is missing")
    return read_file(path, ResultError)


@dataclass(frozen=True, eq=False)
class Closed:
    """A problem, and the proof that each of its design points breaks a limit or is no better than
    points that the proof names."""

    problem: Problem
    proof: ProofArtifacts | BoundProof

    @property
    def is_infeasible(self) -> bool:
        """Return whether every design point breaks a limit."""
        return self.is_reached_by(np.zeros((0, len(self.problem.objectives)), dtype=np.int64))

    def is_reached_by(self, points: IntArray) -> bool:
        """Return whether every feasible design point is no better than one of these points [n,
        objectives], if the proof holds."""
        proof, names = self.proof, tuple(self.problem.objective_names)
        if isinstance(proof, ProofArtifacts):
            rows = np.array(proof.certificate.members, dtype=np.int64)
            if len(rows) and proof.certificate.objectives != names:
                return False
            return all((points <= row).all(axis=1).any() for row in rows)
        if proof.objectives != names:
            points = np.zeros((0, len(proof.objectives)), dtype=np.int64)
        return region_reaches(open_corners(points), proof.region, 0)


def write_closed(folder: Path, closed: Closed) -> None:
    """Write the folder.

    Raises:
        ResultError: if it exists or cannot be written.
    """
    proof, files = closed.proof, {PROBLEM_FILE: problem_bytes(closed.problem)}
    if isinstance(proof, ProofArtifacts):
        files |= proof_files(CERTIFICATE, proof)
    else:
        files[BOUNDS_FILE] = bounds_bytes(proof)
    write_folder(folder, files, overwrite=False)


def read_closed(folder: Path, *, check_hashes: bool = True) -> Closed:
    """Return what a folder holds. The proof is not checked.

    Raises:
        ResultError: if a file is missing, cannot be read, does not follow its schema, was changed,
            or does not belong to the other.
    """
    problem = read_problem(folder, check_hashes=check_hashes)
    proof = read_certificate(folder, problem, check_hashes=check_hashes) or read_bounds(
        folder, problem, check_hashes=check_hashes
    )
    if proof is None:
        raise ResultError(f"{folder}: a front or a proof that there is none is required")
    return Closed(problem, proof)
