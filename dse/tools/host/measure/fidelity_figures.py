"""Predictions compared with measurements of the same design points: figures and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.results.io.canonical_json import Json
from paretosoc.results.plots.style import COLOURS, GREY, INK, PAGE_INCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    rates = [point.frames_per_s for point in fidelity.points]
    measured = np.array([span.measured for span in spans])
    best, fastest = spans[fidelity.best], spans[int(measured.argmin())]
    return FidelitySummary(
        makespan=agreement([p.predicted for p in spans], [p.measured for p in spans]),
        makespan_without=agreement(
            [p.without_contention for p in spans], [p.measured for p in spans]
        ),
        rate=agreement([p.predicted for p in rates], [p.measured for p in rates]),
        rate_without=agreement([p.without_contention for p in rates], [p.measured for p in rates]),
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
            {
                "name": point.name,
                "units": [fidelity.unit_names[unit] for unit in point.units],
                "makespan_ms": asdict(point.makespan_ms),
                "frames_per_s": asdict(point.frames_per_s),
                "frames": point.frames,
                "lost_share": point.lost_share,
            }
            for point in fidelity.points
        ],
    }


def draw_fidelity(fidelity: Fidelity) -> Figure:
    """Return a matplotlib figure of predictions over measurements. Points on the line are exact."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PAGE_INCHES, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _panel(left, [p.makespan_ms for p in fidelity.points], fidelity, "makespan (ms)")
    _panel(right, [p.frames_per_s for p in fidelity.points], fidelity, "frames per second")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, columnspacing=1.2)
    return figure


def _panel(axes: Axes, entries: list[Prediction], fidelity: Fidelity, what: str) -> None:
    axes.grid(True)
    values = [v for e in entries for v in (e.predicted, e.without_contention, e.measured)]
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.05 * high
    ends = (low - margin, high + margin)
    axes.plot(ends, ends, color=GREY, linewidth=0.7, label="predicted = measured", zorder=1)
    axes.scatter(
        [e.measured for e in entries],
        [e.without_contention for e in entries],
        s=18,
        facecolors="none",
        edgecolors=COLOURS[1],
        linewidths=0.9,
        label="without contention in the model",
        zorder=2,
    )
    axes.errorbar(
        [e.measured for e in entries],
        [e.predicted for e in entries],
        xerr=[e.spread * e.measured / 2 for e in entries],
        fmt="o",
        markersize=3.2,
        color=COLOURS[0],
        elinewidth=0.6,
        label="predicted",
        zorder=3,
    )
    best = entries[fidelity.best]
    axes.scatter(
        [best.measured],
        [best.predicted],
        marker="*",
        s=70,
        color=INK,
        label="certified fastest" if fidelity.is_certified else "predicted fastest",
        zorder=4,
    )
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_aspect("equal")
    axes.set_xlabel(f"Measured {what}")
    axes.set_ylabel(f"Predicted {what}")
