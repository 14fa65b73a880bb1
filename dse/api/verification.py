"""Checks of result folders, of fronts and of periodic schedules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dse.certificate.verify.checks import Check
from dse.certificate.verify.solvers import SOLVER_SECONDS
from dse.certificate.verify.verify import Checker
from dse.certificate.verify.verify import verify as verify_front
from dse.papers.mobile_i.verify import verify_periodic
from results.export.result_folder import holds_periodic


def verify(
    folder: str | Path,
    *,
    ignore_hashes: bool = False,
    checker: str = "fast",
    solver_seconds: float = SOLVER_SECONDS,
) -> Iterator[Check]:
    """Check a result folder without trusting what wrote it; ends with the first failed check.

    Args:
        ignore_hashes: check the claims of files that were changed.
        checker: of proofs: ``fast`` (compiled, all cores) or ``plain`` (Python integers).
        solver_seconds: time limit of a solver, for each claim that it is asked about again.

    Example:
        >>> [check.name for check in dse.verify("runs/demo") if check.verdict.value != "holds"]
    """
    path = Path(folder)
    if holds_periodic(path):
        return verify_periodic(path, ignore_hashes=ignore_hashes)
    return verify_front(
        path,
        ignore_hashes=ignore_hashes,
        checker=Checker(checker),
        solver_seconds=solver_seconds,
    )
