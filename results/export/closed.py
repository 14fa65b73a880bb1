"""The folder of a problem that adds nothing to a front: ``problem.json`` and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import (
    BOUNDS_FILE,
    CERTIFICATE,
    FRONT_FILE,
    PROBLEM_FILE,
    read_bounds,
    read_certificate,
    read_problem,
    write_folder,
)
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.bounds_file import bounds_bytes
from paretosoc.results.front.certificate import ProofArtifacts, proof_files
from paretosoc.results.front.epsilon import open_corners, region_reaches
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_bytes


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


def is_closed(folder: Path) -> bool:
    """Return whether a folder has a proof in place of a front."""
    proofs = (f"{CERTIFICATE}.json", BOUNDS_FILE)
    return not (folder / FRONT_FILE).exists() and any((folder / name).exists() for name in proofs)


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
