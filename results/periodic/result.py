"""Periodic schedules of one network on arrays of several sizes, and which of them are the front."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.results.periodic.periodic import PeriodicSchedule


@dataclass(frozen=True)
class PeriodicResult:
    """The result of ``dse papers periodic``. Members are the schedules of the method searched with,
    one for each number of engines. ``others`` are other methods' schedules on the same arrays."""

    network: str
    platform: str
    platform_sha256: str
    network_sha256: str
    inferences: int
    """N of Eq. 3."""
    parts: int
    """Operations that a layer was split into at most."""
    command: str
    version: str
    members: tuple[PeriodicSchedule, ...]
    others: tuple[PeriodicSchedule, ...]

    def objectives(self, schedule: PeriodicSchedule) -> tuple[int, int, int]:
        """Return latency of all inferences (ps), number of engines, energy (fJ). All are
        minimised."""
        return (
            schedule.latency_ps(self.inferences),
            schedule.array.engines,
            schedule.energy_fj(self.inferences),
        )


def undominated(schedules: list[PeriodicSchedule], inferences: int) -> list[PeriodicSchedule]:
    """Return the non-dominated schedules in latency, engines and energy."""

    def figures(schedule: PeriodicSchedule) -> tuple[int, int, int]:
        engines = schedule.array.engines
        return schedule.latency_ps(inferences), engines, schedule.energy_fj(inferences)

    rows = [figures(schedule) for schedule in schedules]
    return [
        schedule
        for place, schedule in enumerate(schedules)
        if not any(
            all(a <= b for a, b in zip(row, rows[place], strict=True))
            and (row != rows[place] or other < place)
            for other, row in enumerate(rows)
            if other != place
        )
    ]
