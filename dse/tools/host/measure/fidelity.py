"""A sample of design points run for real: how far the model is from the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.group_by_group import without_contention
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.measure.memory_rates import together_gbps
from paretosoc.dse.tools.host.measure.running import DesignRuns, predict
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import FASTEST, choose_member, is_fastest_certified
from paretosoc.results.io.canonical_json import Json
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import Curve, Item, Marks, solid_marks
from paretosoc.results.plots.picture import Picture
from paretosoc.results.plots.style import COLOURS, GREY, INK

PASSES = 3
"""Runs of every design point, with all others in between, so that drift affects all alike."""


def sample_rows(front: Front, samples: int, seed: int) -> IntArray:
    """Return [at most samples + 1, width]: the fastest member, then random rows that differ."""
    space = DesignSpace(front.problem)
    best = front.members[choose_member(front, FASTEST)].design.row
    drawn = space.random(np.random.default_rng(seed), 50 * samples)
    rows = np.concatenate((best[None, :], drawn))
    return rows[unique_rows(rows)][: samples + 1]


def measure_fidelity(
    machine: HostMachine,
    front: Front,
    *,
    samples: int,
    frames: int,
    seed: int,
    dispatch: Dispatch = Dispatch.PLANNED,
    say: Callable[[str], None] = lambda text: None,
) -> Fidelity:
    """Run the fastest member and random design points, and predict each with and without
    contention.

    Args:
        front: from an exploration of this machine.
        frames: of each, in each of the passes.

    Raises:
        ResultError: if the front is empty, its networks have rates, or the machine fails.
    """
    problem = front.problem
    if problem.has_rates:
        raise ResultError(
            "frames one at a time and pipelined are compared, and networks with rates have none; "
            "'dse run' compares the responses of a member"
        )
    plain = without_contention(problem)
    designs = [problem.design_of(row) for row in sample_rows(front, samples, seed)]
    runs = [DesignRuns(problem, design, dispatch=dispatch) for design in designs]
    units = len(problem.units)
    together = [together_gbps(machine, units)]
    for number in range(PASSES):
        say(f"pass {number + 1} of {PASSES} over {len(designs)} design points")
        for entry in runs:
            entry.run(machine, frames)
        together.append(together_gbps(machine, units))
    points = []
    for k, (design, entry) in enumerate(zip(designs, runs, strict=True)):
        predicted, without, ran = predict(problem, design), predict(plain, design), entry.result()
        measured = ran.figures
        makespans = predicted.makespan_ms, without.makespan_ms, measured.makespan_ms
        rates = predicted.frames_per_s, without.frames_per_s, measured.frames_per_s
        points.append(
            FidelityPoint(
                name="fastest" if k == 0 else f"random {k}",
                units=tuple(int(unit) for unit in design.units),
                makespan_ms=Prediction(*makespans, ran.makespan.spread),
                frames_per_s=Prediction(*rates, ran.period.spread),
                frames=ran.makespan.samples,
                lost_share=ran.lost_share,
            )
        )
    return Fidelity(
        points=tuple(points),
        best=0,
        is_certified=is_fastest_certified(front),
        unit_names=tuple(unit.name for unit in problem.units),
        together_gbps=tuple(together),
    )


@dataclass(frozen=True)
class Prediction:
    """One figure of a design point: predicted, predicted without contention, measured."""

    predicted: float
    without_contention: float
    measured: float
    spread: float
    """Middle half of the measurements as a share of their median."""


@dataclass(frozen=True)
class FidelityPoint:
    """A design point that was run."""

    name: str
    units: tuple[int, ...]
    """[groups]."""
    makespan_ms: Prediction
    frames_per_s: Prediction
    frames: int
    """Measured frames that count for the makespan."""
    lost_share: float
    """Share of the time of the units that their cores did other things."""


@dataclass(frozen=True)
class Agreement:
    """Figures over several points. Errors are |predicted - measured| / measured."""

    median_error: float
    largest_error: float
    rank_correlation: float | None
    """Spearman's, or None if all values are equal, or there are fewer than three."""


@dataclass(frozen=True)
class Fidelity:
    """Points that were run. ``best`` is the place of the one that is predicted to be fastest."""

    points: tuple[FidelityPoint, ...]
    best: int
    is_certified: bool
    unit_names: tuple[str, ...]
    together_gbps: tuple[float, ...]
    """Bytes that all units read from memory at once, before each pass and after the last."""


def agreements(points: Sequence[Prediction]) -> tuple[Agreement, Agreement]:
    """Return how well predictions with contention, and those without, agree with measurements."""
    columns = zip(*((p.predicted, p.without_contention, p.measured) for p in points), strict=True)
    with_contention, without, measured = columns
    return agreement(with_contention, measured), agreement(without, measured)


def agreement(predicted: Sequence[float], measured: Sequence[float]) -> Agreement:
    """Return how well predictions agree with measurements.

    Raises:
        ValueError: if there are none.
    """
    from scipy.stats import rankdata

    one, other = np.array(predicted, dtype=np.float64), np.array(measured, dtype=np.float64)
    if not len(one):
        raise ValueError("at least one point is required")
    errors = np.abs(one - other) / other
    ranks = rankdata(one), rankdata(other)
    known = len(one) > 2 and all(np.ptp(rank) > 0 for rank in ranks)
    return Agreement(
        median_error=float(np.median(errors)),
        largest_error=float(errors.max()),
        rank_correlation=float(np.corrcoef(*ranks)[0, 1]) if known else None,
    )


@dataclass(frozen=True)
class FidelitySummary:
    """Makespan and frames per second, each with contention in the model and without."""

    makespan: Agreement
    makespan_without: Agreement
    rate: Agreement
    rate_without: Agreement
    best_rank: int
    """Rank of the point predicted fastest, by measured makespan. 1 is the fastest."""
    best_behind: float
    """Its measured makespan over the smallest, minus 1."""
    noise: float
    """Its spread, or that of the measured fastest, whichever is larger."""


def summary_of(fidelity: Fidelity) -> FidelitySummary:
    """Return the figures that say whether to trust a model."""
    spans = [point.makespan_ms for point in fidelity.points]
    measured = np.array([span.measured for span in spans])
    best, fastest = spans[fidelity.best], spans[int(measured.argmin())]
    return FidelitySummary(
        *agreements(spans),
        *agreements([point.frames_per_s for point in fidelity.points]),
        best_rank=1 + int((measured < best.measured).sum()),
        best_behind=best.measured / fastest.measured - 1,
        noise=max(best.spread, fastest.spread),
    )


def fidelity_document(fidelity: Fidelity) -> dict[str, Json]:
    """Return points and summary as JSON content."""
    summary = summary_of(fidelity)
    return {
        "makespan": asdict(summary.makespan),
        "makespan_without_contention": asdict(summary.makespan_without),
        "frames_per_s": asdict(summary.rate),
        "frames_per_s_without_contention": asdict(summary.rate_without),
        "best": {
            "point": fidelity.best,
            "is_certified": fidelity.is_certified,
            "rank": summary.best_rank,
            "behind": summary.best_behind,
            "noise": summary.noise,
        },
        "together_gbps": list(fidelity.together_gbps),
        "points": [
            {**asdict(point), "units": [fidelity.unit_names[unit] for unit in point.units]}
            for point in fidelity.points
        ],
    }


def draw_fidelity(fidelity: Fidelity) -> Picture:
    """Return predictions over measurements. Points on the line are exact."""
    spans = [p.makespan_ms for p in fidelity.points]
    rates = [p.frames_per_s for p in fidelity.points]
    left = _chart(spans, fidelity, "makespan (ms)")
    right = _chart(rates, fidelity, "frames per second")
    return Charts([[left, right]]).picture()


def _chart(entries: list[Prediction], fidelity: Fidelity, what: str) -> Chart:
    values = [v for e in entries for v in (e.predicted, e.without_contention, e.measured)]
    x = Axis.over(f"Measured {what}", values, 0.06)
    y, best = replace(x, title=f"Predicted {what}"), entries[fidelity.best]
    without = [(e.measured, e.without_contention) for e in entries]
    blue, orange = COLOURS[:2]
    line = [(x.low, x.low), (x.high, x.high)]
    items: list[Item] = [
        Curve(line, GREY, 0.7, name="predicted = measured"),
        Marks(without, "o", ink=orange, name="without contention in the model", width=0.9),
    ]
    for e in entries:
        half = e.spread * e.measured / 2
        ends = [(e.measured - half, e.predicted), (e.measured + half, e.predicted)]
        items.append(Curve(ends, blue, 0.6))
    name = "certified fastest" if fidelity.is_certified else "predicted fastest"
    items += [
        solid_marks([(e.measured, e.predicted) for e in entries], "o", blue, "predicted"),
        Marks([(best.measured, best.predicted)], "*", [INK], [True], name=name, key_fill=INK),
    ]
    return Chart(x, y, tuple(items), width=PAGE / 2, height=280.0)
