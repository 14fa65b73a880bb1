"""What a folder of periodic schedules claims, checked without trusting what wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dse.certificate.verify.verify import Check
from results.errors import ResultError
from results.periodic.check import broken_rule
from results.periodic.file import read_periodic
from results.periodic.result import PeriodicResult, undominated
from results.periodic.table import least_period_ps


def verify_periodic(folder: Path, *, ignore_hashes: bool = False) -> Iterator[Check]:
    """Checks one thing after the other; ends with the first that does not hold."""
    try:
        result = read_periodic(folder, check_hashes=not ignore_hashes)
    except ResultError as error:
        yield Check("files", False, str(error))
        return
    hashes = "" if ignore_hashes else ", hash"
    yield Check("files", True, f"schema{hashes}; latency, prologue and energy of every schedule")
    for check in (_schedules_hold(result), _periods_hold(result), _front_holds(result)):
        yield check
        if not check.holds:
            return


def _schedules_hold(result: PeriodicResult) -> Check:
    for number, schedule in enumerate((*result.members, *result.others)):
        broken = broken_rule(schedule)
        if broken is not None:
            return Check("schedules", False, f"schedule {number} ({schedule.method}): {broken}")
    count = len(result.members) + len(result.others)
    return Check(
        "schedules", True, f"{count} played past their prologue: dependences, engines, caches"
    )


def _periods_hold(result: PeriodicResult) -> Check:
    schedules = (*result.members, *result.others)
    for number, schedule in enumerate(schedules):
        if schedule.period_ps < least_period_ps(schedule):
            return Check("periods", False, f"schedule {number}: below the work of its engines")
    worst = max(s.period_ps / least_period_ps(s) - 1 for s in result.members)
    return Check("periods", True, f"members at most {worst:.2%} above the bound for their copies")


def _front_holds(result: PeriodicResult) -> Check:
    members = list(result.members)
    if undominated(members, result.inferences) != members:
        return Check("front", False, "a member dominates another")
    return Check("front", True, f"{len(members)} members, none dominates another")
