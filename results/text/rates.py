"""Rates, responses and guaranteed latencies of networks, as tables and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.common.tables import Column
from paretosoc.common.text import pluralize
from paretosoc.common.units import FJ_PER_MJ, PPM_PER_PERCENT, PS_PER_MS, PS_PER_S, UHZ_PER_HZ
from paretosoc.results.front.front import FreeRun, Member
from paretosoc.results.problem.limits import DEADLINES
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import member_relative_ppm

OVERLOADED = "overloaded"


def response_lines(problem: Problem, member: Member) -> list[str]:
    """Return a line for each network: its releases in a period, its response times, their spread,
    and the number of misses. Empty without rates."""
    lines = []
    window = member.window_ps
    if member.is_overloaded:
        lines += [
            f"{OVERLOADED}: nothing recurs; responses are of the first period alone",
            describe_loads(problem, member.design),
        ]
    if window is not None and window[0] > 0:
        begin, length = map(_ms, (window[0], window[1] - window[0]))
        lines.append(
            f"work runs over the end of a period: from {begin} ms on all recurs every {length} ms"
        )
    for n, entry in enumerate(member.responses or ()):
        longest, often, jitter, limit = map(
            _ms,
            (
                *(member.latencies_ps[n], entry.percentile_95_ps, entry.jitter_ps),
                problem.late_ps(n),
            ),
        )
        releases = pluralize(problem.releases(n), "release")
        lines.append(
            f"responses of {problem.networks[n].name}: {releases} a period, at most {longest} ms, "
            f"95 % within {often} ms, jitter {jitter} ms, {entry.misses} above {limit} ms"
        )
    return lines


def describe_loads(problem: Problem, design: DesignPoint) -> str:
    """Return the units with more work in a period than fits into it, and the networks of that work.
    If there is none, return the unit with most. Work is stand-alone time: contention only adds to
    it."""
    period = problem.execution.period_ps or 0
    loads = {u: _loads_ps(problem, design, u) for u in sorted(set(problem.unit_of))}
    most = max(map(sum, loads.values()))
    texts = []
    for u, load in loads.items():
        if sum(load) > period or sum(load) == most:
            parts = sorted(
                ((ps, network.name) for ps, network in zip(load, problem.networks, strict=True)),
                key=lambda part: -part[0],
            )
            of_networks = ", ".join(f"{name} {_ms(ps)} ms" for ps, name in parts if ps)
            name = problem.units[u].unit_name
            texts.append(f"{_ms(sum(load))} ms of work on {name} ({of_networks})")
    why = "" if most > period else "; contention, transitions and waiting take the rest"
    return f"in a period of {_ms(period)} ms there are {' and '.join(texts)}{why}"


def _loads_ps(problem: Problem, design: DesignPoint, u: int) -> list[int]:
    """Return the time that a period's releases take alone on a unit in any format, [networks]."""
    load = [0] * len(problem.networks)
    moving = problem.repeats * problem.moving_ps(design.units)
    for n, network in enumerate(problem.networks):
        for g in network.groups:
            v = int(design.units[g])
            if problem.unit_of[v] == u:
                _, at = design.place_of(problem, g)
                load[n] += int(problem.frame_ps(v)[at] + moving[g])
    return load


def _ms(ps: int) -> str:
    return format_number(ps / PS_PER_MS)


@dataclass(frozen=True)
class SlowestNetwork:
    """The network of a member with the smallest relative rate, the first of several."""

    name: str
    rate: str
    """Images per second."""
    share: str
    """Share of its rate alone, percent."""


def slowest_network(problem: Problem, member: Member) -> SlowestNetwork | None:
    """Return the slowest network relative to itself alone, or None if networks share a frame."""
    if member.free_run is None:
        return None
    shares = member_relative_ppm(problem, member)
    n = shares.index(min(shares))
    return SlowestNetwork(
        problem.networks[n].name,
        format_number(member.free_run.rates_uhz(problem.images)[n] / UHZ_PER_HZ),
        format_number(shares[n] / PPM_PER_PERCENT),
    )


def free_run_lines(problem: Problem, member: Member) -> list[str]:
    """Return lines with the window, each network's throughput in it, also as a share of its rate
    alone, and the part that the schedule shows. Empty if networks share a frame."""
    run = member.free_run
    if run is None:
        return []
    begin, end = run.window_ps
    lines = [
        f"window: {format_number((end - begin) / PS_PER_MS)} ms, from "
        f"{format_number(begin / PS_PER_MS)} to {format_number(end / PS_PER_MS)} ms"
    ]
    shares = member_relative_ppm(problem, member)
    for network, uhz, ppm in zip(
        problem.networks, run.rates_uhz(problem.images), shares, strict=True
    ):
        rate, share = format_number(uhz / UHZ_PER_HZ), format_number(ppm / PPM_PER_PERCENT)
        lines.append(f"throughput of {network.name}: {rate} images/s, {share} % of its rate alone")
    return [*lines, f"schedule: {describe_shown_part(run)}"]


def describe_shown_part(run: FreeRun) -> str:
    """Return how much of a free run its schedule shows."""
    until = format_number(run.shown_ps / PS_PER_MS)
    if run.shows_window:
        return f"free-running, to the window's end at {until} ms"
    where = "before the window begins" if run.shown_ps <= run.window_ps[0] else "inside the window"
    return f"free-running, the first {until} ms; it ends {where}"


_THROUGHPUT = Objective(ObjectiveKind.THROUGHPUT)


def images_per_second(problem: Problem, member: Member) -> tuple[float, ...] | None:
    """Return the images per second of each network, [networks], or None unless frames have a known
    rate."""
    if member.free_run is not None:
        rates = member.free_run.rates_uhz(problem.images)
        return tuple(uhz / UHZ_PER_HZ for uhz in rates)
    period: float
    if problem.execution.period_ps is not None:
        period = problem.execution.period_ps
    elif _THROUGHPUT in problem.objectives:
        value = member.objectives[problem.objectives.index(_THROUGHPUT)]
        period = value * sum(problem.images) / len(problem.networks)
    else:
        return None
    return tuple(PS_PER_S * images / period for images in problem.images)


def energy_per_image_mj(problem: Problem, member: Member) -> float:
    """Return the energy over the images of all networks."""
    energy = member.energy_fj / FJ_PER_MJ
    return energy if member.free_run is not None else energy / sum(problem.images)


def _has_batches(problem: Problem) -> bool:
    return any(network.batch > 1 for network in problem.networks)


def adds_energy_per_image(problem: Problem) -> bool:
    """Return whether the energy per image is worth a column: batches, and no such objective."""
    kinds = {objective.kind for objective in problem.objectives}
    same = ObjectiveKind.EFFICIENCY if problem.execution.has_frame else ObjectiveKind.ENERGY
    return _has_batches(problem) and same not in kinds


def describe_batches(problem: Problem) -> list[str]:
    """Return ``a frame of resnet50 is a batch of 8 images`` for each network that has one. With
    rates it is a release."""
    what = "a release" if problem.has_rates else "a frame"
    return [
        f"{what} of {network.name} is a batch of {network.batch} images"
        for network in problem.networks
        if network.batch > 1
    ]


def image_lines(problem: Problem, member: Member) -> list[str]:
    """Return a line on energy and, if it is known, one on rates, of frames that have batches or,
    with the mean rate as objective, several images. Networks that run freely have their own."""
    is_mean = _THROUGHPUT in problem.objectives and sum(problem.images) > 1
    if not _has_batches(problem) and (member.free_run is not None or not is_mean):
        return []
    lines = []
    if member.energy_fj:
        each = energy_per_image_mj(problem, member)
        lines.append(f"energy per image: {format_number(each)} mJ")
    rates = images_per_second(problem, member)
    if rates is not None:
        pairs = zip(problem.networks, rates, strict=True)
        texts = ", ".join(f"{network.name} {format_number(rate)}" for network, rate in pairs)
        lines.append(f"images per second: {texts}")
    return lines


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
