"""What a folder of periodic schedules claims, checked without trusting what wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from paretosoc.dse.certificate.verify.checks import Check, Verdict, fails, holds, not_checked
from paretosoc.results.errors import ResultError
from paretosoc.results.periodic.check import broken_rule
from paretosoc.results.periodic.file import read_periodic
from paretosoc.results.periodic.result import PeriodicResult, undominated
from paretosoc.results.periodic.table import least_period_ps


def verify_periodic(folder: Path, *, ignore_hashes: bool = False) -> Iterator[Check]:
    """Checks one thing after the other; ends with the first that fails."""
    try:
        result = read_periodic(folder, check_hashes=not ignore_hashes)
    except ResultError as error:
        yield fails("files", str(error))
        return
    hashes = "" if ignore_hashes else ", hash"
    yield holds("files", f"schema{hashes}; latency, prologue and energy of every schedule")
    if ignore_hashes:
        yield not_checked("hashes", "--ignore-hashes")
    for check in (_schedules_hold(result), _periods_hold(result), _front_holds(result)):
        yield check
        if check.verdict is Verdict.FAILS:
            return


def _schedules_hold(result: PeriodicResult) -> Check:
    for number, schedule in enumerate((*result.members, *result.others)):
        broken = broken_rule(schedule)
        if broken is not None:
            return fails("schedules", f"schedule {number} ({schedule.method}): {broken}")
    count = len(result.members) + len(result.others)
    return holds(
        "schedules", f"{count} simulated past their prologue: dependences, engines, caches"
    )


def _periods_hold(result: PeriodicResult) -> Check:
    schedules = (*result.members, *result.others)
    for number, schedule in enumerate(schedules):
        if schedule.period_ps < least_period_ps(schedule):
            return fails("periods", f"schedule {number}: below the work of its engines")
    worst = max(s.period_ps / least_period_ps(s) - 1 for s in result.members)
    return holds("periods", f"members at most {worst:.2%} above the bound for their copies")


def _front_holds(result: PeriodicResult) -> Check:
    members = list(result.members)
    if undominated(members, result.inferences) != members:
        return fails("front", "a member dominates another")
    return holds("front", f"{len(members)} members, none dominates another")
