"""Guaranteed latencies of members, beside the latest ones seen with first come, first served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.common.tables import Column
from paretosoc.results.front.front import Member
from paretosoc.results.problem.limits import DEADLINES
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

_TIME = Objective(ObjectiveKind.GUARANTEED_LATENCY)
_PERIOD = "the period"
"""Stands for the period among the names of late networks."""


@dataclass(frozen=True)
class GuaranteeFigures:
    """Latencies of one frame of a member for times within the problem's tolerance."""

    makespan_ps: int
    """Upper bound, if units keep their planned order."""
    latency_ps: tuple[int, ...]
    """[networks]: likewise."""
    first_come_ps: int
    """Latest makespan that was found if units take groups in the order in which they become
    ready."""
    first_come_latency_ps: tuple[int, ...]
    """[networks]: likewise."""

    def longest(self, problem: Problem) -> tuple[int | None, int]:
        """Return the guaranteed makespan, or response of networks with rates, and the latest seen.
        None: nothing is guaranteed, since the work of a period may not end within it."""
        if not problem.has_rates:
            return self.makespan_ps, self.first_come_ps
        period = problem.execution.period_ps or 0
        bound = max(self.latency_ps) if self.makespan_ps <= period else None
        return bound, max(self.first_come_latency_ps)

    def late(self, problem: Problem) -> list[str]:
        """Return the names of late networks, or "the period", if units take the first that is
        ready."""
        period = problem.execution.period_ps
        late = [
            problem.networks[n].name
            for kind in DEADLINES
            for n, deadline in kind.values(problem)
            if self.first_come_latency_ps[n] > deadline
        ]
        return [*late, *([_PERIOD] if period and self.first_come_ps > period else [])]


_LOSS = 4_000
"""Of a column that a narrow table leaves out."""


def guarantee_columns(
    problem: Problem, members: Sequence[Member], figures: Sequence[GuaranteeFigures]
) -> list[Column]:
    """Return the columns that the objectives do not have yet."""
    columns = []
    asked = {one.kind.value for one in problem.objectives if one.network is None}
    word = "response" if problem.has_rates else "latency"
    if word not in asked:
        nominal = [
            max(member.latencies_ps) if problem.has_rates else member.makespan_ps
            for member in members
        ]
        columns.append(Column(f"nominal {word}", ("nominal", "ms"), _times(nominal), _LOSS))
    bounds, latest = zip(*(entry.longest(problem) for entry in figures), strict=True)
    if f"guaranteed-{word}" not in asked:
        texts = iter(_times([bound for bound in bounds if bound is not None]))
        cells = tuple("none" if bound is None else next(texts) for bound in bounds)
        columns.append(Column(f"guaranteed {word}", ("guaran-", "teed ms"), cells, _LOSS))
    cells = tuple(
        f"{text}{' late' if entry.late(problem) else ''}"
        for text, entry in zip(_times(latest), figures, strict=True)
    )
    name = "worst case seen with first come, first served"
    return [*columns, Column(name, ("first", "come ms"), cells, _LOSS)]


def guarantee_lines(problem: Problem, figures: GuaranteeFigures) -> list[str]:
    """Return a line for the makespan and for each network, and one for first come, first served."""
    assert problem.tolerance_permille is not None, "of a problem with a tolerance"
    least, most = (permille / 1000 for permille in problem.tolerance_permille)
    word = "response" if problem.has_rates else "latency"
    bound, latest = figures.longest(problem)
    text = "none" if bound is None else f"{_times([bound])[0]} ms"
    lines = [f"guaranteed {word} ({least:g} to {most:g} times the nominal times): {text}"]
    if len(problem.networks) > 1 and bound is not None:
        times = _times(figures.latency_ps)
        lines += [
            f"guaranteed {word} of {network.name}: {text} ms"
            for network, text in zip(problem.networks, times, strict=True)
        ]
    (seen,) = _times([latest])
    late = figures.late(problem)
    limited = problem.execution.period_ps is not None or any(
        True for kind in DEADLINES for _ in kind.values(problem)
    )
    networks = ", ".join(name for name in late if name != _PERIOD)
    said = [
        f"with first come, first served up to {seen} ms were seen",
        *([f"misses the deadline of {networks}"] if networks else []),
        *(["does not fit the period"] if _PERIOD in late else []),
        *(["no deadline was seen to be missed"] if limited and not late else []),
    ]
    lines.append("; ".join(said))
    return lines


def _times(values: Sequence[int]) -> tuple[str, ...]:
    return tuple(_TIME.format(values))
