"""``dse verify``: independent verification of a result folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from paretosoc.dse.certificate.verify.checks import SOLVER_SECONDS, Checker
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import print_json

if TYPE_CHECKING:
    from paretosoc.dse.certificate.verify.checks import Check


def verify(
    folder: opt.Folder,
    ignore_hashes: Annotated[
        bool, Option("--ignore-hashes", help="Check the claims even if hashes differ.")
    ] = False,
    checker: Annotated[
        Checker,
        Option(
            "--checker",
            help="Check proofs with compiled code on all cores, or with plain Python integers.",
        ),
    ] = Checker.FAST,
    time_limit: Annotated[
        float,
        Option(
            "--time-limit",
            min=0.001,
            max=opt.MAX_SECONDS,
            help="Time limit of a solver in seconds, for each claim that it is asked about again.",
        ),
    ] = SOLVER_SECONDS,
    as_json: opt.AsJson = False,
) -> int:
    """Verify the claims of a result folder independently of the program that wrote it.

    Exit status 0 if all claims hold, 1 if one does not, 4 if one was not checked.
    """
    from paretosoc.dse.api.verification import verify as check_folder

    report = check_folder(
        folder,
        ignore_hashes=ignore_hashes,
        checker=checker.value,
        solver_seconds=time_limit,
        on_check=None if as_json else _print,
    )
    if as_json:
        rows = [
            {"check": check.name, "verdict": check.verdict.value, "detail": check.detail}
            for check in report
        ]
        print_json(rows)
    else:
        print(report.summary)
    return report.exit_status


def _print(check: Check) -> None:
    verdict = check.verdict.value if check.holds else check.verdict.value.upper()
    print(f"{verdict:<11}  {check.name}: {check.detail}")
