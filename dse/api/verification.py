"""Checks of result folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from paretosoc.dse.certificate.verify.checks import SOLVER_SECONDS, Check, Checker, Verdict
from paretosoc.dse.certificate.verify.verify import exit_status, summary
from paretosoc.dse.certificate.verify.verify import verify as verify_front
from paretosoc.dse.inputs.arguments import check_arguments, path_of
from paretosoc.dse.inputs.kinds import Choice
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import other_kind
from paretosoc.results.front.front import Front as NumericFront


@dataclass(frozen=True)
class Verification:
    """Result of verifying a result folder. True if everything holds.

    Examples:
        >>> assert dse.verify("runs/demo").holds
        >>> [check.name for check in dse.verify("runs/demo") if not check.holds]
    """

    folder: Path
    checks: tuple[Check, ...]
    """One check for each claim, in order, with ``name``, ``verdict``, ``detail`` and ``holds``. The
    last one is the first that fails."""

    @property
    def holds(self) -> bool:
        """Return whether everything was checked, and holds."""
        return all(check.holds for check in self.checks)

    @property
    def exit_status(self) -> int:
        """Return the exit status of ``dse verify``: 0 if all holds, 1 if a check fails, else 4 (not
        all was checked)."""
        return exit_status(self.checks)

    @property
    def summary(self) -> str:
        """Return a summary of the checks, as a sentence."""
        return summary(self.checks)

    def __bool__(self) -> bool:
        return self.holds

    def __len__(self) -> int:
        return len(self.checks)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __repr__(self) -> str:
        words = [f"{check.verdict.value} {check.name}: {check.detail}" for check in self.checks]
        open_ = [text for text, check in zip(words, self.checks, strict=True) if not check.holds]
        return f"<dse.Verification of {self.folder}: {'; '.join(open_) or 'all holds'}>"


def verify(
    folder: str | Path,
    *,
    ignore_hashes: bool = False,
    checker: str = "fast",
    solver_seconds: float = SOLVER_SECONDS,
    raise_on_failure: bool = False,
    on_check: Callable[[Check], None] | None = None,
) -> Verification:
    """Verify a result folder independently of the program that wrote it. Stops at the first failed
    check.

    Args:
        ignore_hashes: check the claims of files that were changed.
        checker: checker of proofs: ``fast`` (compiled, all cores) or ``plain`` (Python integers).
        solver_seconds: time limit of a solver for each claim that it checks again.
        raise_on_failure: raise if a check fails.
        on_check: called after each check.

    Raises:
        ResultError: if there is no result folder, or with ``raise_on_failure`` if a check fails.
        WorkloadError: on arguments that cannot be used.

    Examples:
        >>> dse.verify("runs/demo", raise_on_failure=True)
    """
    check_arguments(
        ignore_hashes=ignore_hashes,
        solver_seconds=solver_seconds,
        raise_on_failure=raise_on_failure,
        on_check=on_check,
    )
    form = Choice(Checker).read(checker, "checker")
    path = path_of(folder)

    def of_front(one: Path, *, closed: bool = False) -> Iterator[Check]:
        return verify_front(
            one,
            ignore_hashes=ignore_hashes,
            checker=form,
            solver_seconds=solver_seconds,
            then=partial(_measures, one, ignore_hashes=ignore_hashes),
            closed=closed,
        )

    kind = other_kind(path)
    if kind is None:
        running = of_front(path)
    else:
        running = kind.verify(path, ignore_hashes=ignore_hashes, verify_front=of_front)
    checks = []
    for check in running:
        checks.append(check)
        if on_check is not None:
            on_check(check)
        if check.verdict is Verdict.FAILS:
            break
    report = Verification(path, tuple(checks))
    if raise_on_failure:
        for check in checks:
            if check.verdict is Verdict.FAILS:
                raise ResultError(f"{path}: {check.name} does not hold: {check.detail}")
    return report


def _measures(folder: Path, front: NumericFront, *, ignore_hashes: bool) -> Iterator[Check]:
    """Check the measures of a front that was searched for by draws of the costs, if it was."""
    if front.robust is not None:
        from paretosoc.dse.tools.analysis.verify_measures import verify_measures

        yield from verify_measures(folder, front, front.robust, ignore_hashes=ignore_hashes)
