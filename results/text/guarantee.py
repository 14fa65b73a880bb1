"""Guaranteed latencies of members, beside what first come, first served was seen to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_objectives
from paretosoc.results.problem.problem import Problem

_LATENCY = Objective(ObjectiveKind.LATENCY)


@dataclass(frozen=True)
class GuaranteeFigures:
    """Latencies of one frame of a member for times within the problem's tolerance."""

    makespan_ps: int
    """Upper bound, if units keep their planned order."""
    latency_ps: tuple[int, ...]
    """[networks]: likewise."""
    first_come_ps: int
    """Latest makespan that was found if units take what comes first."""
    first_come_latency_ps: tuple[int, ...]
    """[networks]: likewise."""

    def late(self, problem: Problem) -> list[str]:
        """Return what was found to be late if units take what comes first: names of networks, or
        the period."""
        period = problem.execution.period_ps
        late = [
            network.name
            for network, latency in zip(problem.networks, self.first_come_latency_ps, strict=True)
            if network.deadline_ps is not None and latency > network.deadline_ps
        ]
        return [*late, *(["the period"] if period and self.first_come_ps > period else [])]


def guarantee_cells(
    problem: Problem, members: Sequence[Member], figures: Sequence[GuaranteeFigures]
) -> list[tuple[str, tuple[str, str], tuple[str, ...]]]:
    """Return (name, header, cells) of the columns that the objectives do not have yet."""
    columns = []
    kinds = {(objective.kind, objective.network) for objective in problem.objectives}
    if (ObjectiveKind.LATENCY, None) not in kinds:
        nominal = [member.makespan_ps for member in members]
        columns.append(("nominal latency", ("nominal", "ms"), _times(nominal)))
    if (ObjectiveKind.GUARANTEED_LATENCY, None) not in kinds:
        bounds = [entry.makespan_ps for entry in figures]
        columns.append(("guaranteed latency", ("guaran-", "teed ms"), _times(bounds)))
    seen = _times([entry.first_come_ps for entry in figures])
    cells = tuple(
        f"{text}{' late' if entry.late(problem) else ''}"
        for text, entry in zip(seen, figures, strict=True)
    )
    columns.append(("worst case seen with first come, first served", ("first", "come ms"), cells))
    return columns


def guarantee_lines(problem: Problem, figures: GuaranteeFigures) -> list[str]:
    """Return a line for the makespan and for each network, and one for first come, first
    served."""
    assert problem.tolerance_permille is not None, "of a problem with a tolerance"
    least, most = (permille / 1000 for permille in problem.tolerance_permille)
    (makespan,) = _times([figures.makespan_ps])
    lines = [f"guaranteed latency ({least:g} to {most:g} times the nominal times): {makespan} ms"]
    if len(problem.networks) > 1:
        times = _times(figures.latency_ps)
        lines += [
            f"guaranteed latency of {network.name}: {text} ms"
            for network, text in zip(problem.networks, times, strict=True)
        ]
    (seen,) = _times([figures.first_come_ps])
    late = figures.late(problem)
    limited = problem.execution.period_ps is not None or any(
        network.deadline_ps is not None for network in problem.networks
    )
    kept = "; no deadline was seen to be missed" if limited else ""
    missed = f"; misses the deadline of {', '.join(late)}" if late else kept
    if late == ["the period"]:
        missed = "; does not fit the period"
    lines.append(f"with first come, first served up to {seen} ms were seen{missed}")
    return lines


def _times(values: Sequence[int]) -> tuple[str, ...]:
    return tuple(format_objectives(_LATENCY, values))
