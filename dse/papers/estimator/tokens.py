"""The transformer's input for a design point: a token per segment, and one that sums up.

MapFormer 4.1 looks a layer, a component and an operating point up in learned tables, so that it
knows only networks it was trained with. Here the layer's part is made of figures (how long, how
much memory, how much power, how often), which any network has. Component and operating point are
looked up as in the paper. The figures and the summary contain a short play of the mapping
(:mod:`dse.papers.estimator.truncated_simulation`), unless it is left out: with sixteen classes a
bin is often not wider than 10 %, and the order in queues is something that four layers do not learn
from 2,000 workloads. Without it nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import BoolArray, Float32Array, FloatArray, IntArray
from paretosoc.dse.papers.estimator.features import (
    FigureReader,
    Segments,
    loss_parameters,
    segments_of,
)
from paretosoc.dse.papers.estimator.truncated_simulation import ShortPlay, play_shortly
from paretosoc.results.problem.execution import frames_in_flight
from paretosoc.results.problem.problem import Problem

STATIC_FIGURES = (
    *("log work", "log work per group", "log groups", "demand", "log power"),
    *("log transition", "begins at", "share of its network"),
    *("log segments", "clock", "memory clock"),
)
PLAYED_FIGURES = (
    *("unit busy", "unit slowed", "log rate", "log waiting", "share of rates", "share of unit"),
)
"""Figures that the short play adds to them."""
NEAR_ZERO_S = 1e-6


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokens of n rows, at most T segments each. The rest is padding."""

    length: IntArray
    """[n]: segments of each row."""
    figures: Float32Array
    """[n, T, figures]: ``STATIC_FIGURES``, then ``PLAYED_FIGURES`` with a short play."""
    unit: IntArray
    """[n, T]: which component."""
    point: IntArray
    """[n, T]: its operating point, those of all domains counted on."""
    position: IntArray
    """[n, T]: place of the segment within its network."""
    summary: Float32Array
    """[n, summary figures]: see :func:`_static_summary` and :func:`_played_summary`."""
    played: FloatArray
    """[n, 2]: throughput in Hz and power in W as the short play has them; [n, 0] without one."""


class TokenMaker:
    """Makes tokens of the rows of one problem.

    Args:
        short_play: False: nothing is simulated.
    """

    def __init__(self, problem: Problem, *, short_play: bool = True) -> None:
        self._reader = FigureReader(problem)
        self._losses = loss_parameters(problem) if short_play else None

    def __call__(self, rows: IntArray) -> Tokens:
        """Return the tokens of ``rows`` [n, groups + domains]."""
        problem, space = self._reader.problem, self._reader.space
        mapping, points = rows[:, : space.groups], rows[:, space.groups :]
        looked_up = self._reader(rows)
        played = None
        if self._losses is not None:
            played = play_shortly(
                looked_up,
                mapping,
                space.first,
                space.size,
                self._losses,
                frames_in_flight(problem.execution),
            )
        residence = None if played is None else played.residence_s
        segments = segments_of(looked_up, residence, space, rows)
        speed = _speeds(problem, points)
        clock = np.array([unit.clocks[0] for unit in problem.units])
        figures = _static_figures(problem, segments, speed, clock)
        needed = space.units_used(rows) @ space.drives.T
        summary = _static_summary(segments, speed, needed)
        said = np.zeros((len(rows), 0))
        if played is not None:
            figures = np.concatenate((figures, _played_figures(segments, played)), axis=-1)
            summary = np.concatenate((summary, _played_summary(problem, segments, played)), axis=1)
            said = np.stack((_image_rates(problem, played).mean(axis=1), played.power_w), axis=1)
        # Segments of a row one after the other, padding behind them.
        valid = np.arange(segments.unit.shape[2]) < segments.count[:, :, None]
        n = len(points)
        flat = valid.reshape(n, -1)
        length = flat.sum(axis=1)
        order = np.argsort(~flat, axis=1, kind="stable")[:, : int(length.max(initial=1))]
        own = clock[segments.unit]
        begin = np.cumsum([0] + [len(domain.allowed) for domain in problem.domains])
        at = np.arange(n)[:, None, None]
        point = begin[own] + points[at, own]
        position = np.broadcast_to(np.arange(segments.unit.shape[2]), segments.unit.shape)

        def packed(values: IntArray) -> IntArray:
            return np.take_along_axis(values.reshape(n, -1), order, axis=1)

        return Tokens(
            length=length.astype(np.int64),
            figures=np.take_along_axis(
                figures.reshape(n, flat.shape[1], -1), order[:, :, None], axis=1
            ).astype(np.float32),
            unit=packed(segments.unit),
            point=packed(point),
            position=packed(position),
            summary=summary.astype(np.float32),
            played=said,
        )


def _image_rates(problem: Problem, played: ShortPlay) -> FloatArray:
    """Return [n, N]: images per second."""
    repeats = [network.repeats for network in problem.networks]
    return played.rate_hz * problem.images / repeats


def _speeds(problem: Problem, points: IntArray) -> FloatArray:
    """Return [n, domains]: clocks as shares of the fastest."""
    ladders = [
        np.array(domain.frequencies_khz) / domain.frequencies_khz[-1] for domain in problem.domains
    ]
    return np.stack([ladder[points[:, d]] for d, ladder in enumerate(ladders)], axis=1)


def _static_figures(
    problem: Problem, segments: Segments, speed: FloatArray, clock: IntArray
) -> FloatArray:
    """Return [n, N, S, figures] in the order of ``STATIC_FIGURES``, undefined without a segment."""
    work = _positive_work(segments)
    groups = np.maximum(segments.groups, 1.0)
    whole = segments.work_s.sum(axis=2, keepdims=True)
    before = np.cumsum(segments.work_s, axis=2) - segments.work_s
    row = np.arange(len(work))[:, None, None]
    memory = problem.memory_domain
    memory_speed = np.ones(len(work)) if memory is None else speed[:, memory]
    columns = (
        np.log(work),
        np.log(work / groups),
        np.log(groups),
        segments.demand_kbps * 1e-8,
        np.log1p(segments.dynamic_w),
        np.log(segments.transition_s + NEAR_ZERO_S),
        before / whole,
        work / whole,
        np.broadcast_to(np.log(segments.count)[:, :, None], work.shape),
        speed[row, clock[segments.unit]],
        np.broadcast_to(memory_speed[:, None, None], work.shape),
    )
    return np.stack(columns, axis=-1)


def _played_figures(segments: Segments, played: ShortPlay) -> FloatArray:
    """Return [n, N, S, figures] in the order of ``PLAYED_FIGURES``, undefined without a segment."""
    work = _positive_work(segments)
    row = np.arange(len(work))[:, None, None]
    rate = np.broadcast_to(played.rate_hz[:, :, None], work.shape)
    total = np.maximum(played.rate_hz.sum(axis=1), 1e-12)[:, None, None]
    kept = 1.0 - played.loss[row, segments.unit]
    columns = (
        played.busy[row, segments.unit],
        played.loss[row, segments.unit],
        np.log(np.maximum(rate, 1e-6)),
        np.log(np.clip(segments.residence_s / work, 0.5, 1e4)),
        rate / total,
        np.minimum(rate * work / kept, 2.0),
    )
    return np.stack(columns, axis=-1)


def _positive_work(segments: Segments) -> FloatArray:
    """Return [n, N, S]: seconds of one pass, 1 without a segment."""
    return np.where(segments.work_s > 0.0, segments.work_s, 1.0)


def _static_summary(segments: Segments, speed: FloatArray, needed: BoolArray) -> FloatArray:
    """Return [n, 3 + 2 domains]: logarithms of idle power and of counts of networks and segments,
    then of each domain its clock and whether a unit in use needs it."""
    columns: Sequence[FloatArray] = (
        np.log(segments.idle_w),
        np.log(np.full(len(speed), segments.count.shape[1])),
        np.log(segments.count.sum(axis=1)),
    )
    return np.concatenate((np.stack(columns, axis=1), speed, needed * 1.0), axis=1)


def _played_summary(problem: Problem, segments: Segments, played: ShortPlay) -> FloatArray:
    """Return [n, 9 + 2 units]: throughput and power of a short play (logarithms), the unevenness of
    the rates, the doubt about them, and for each unit how busy and how slowed it is."""
    rates = np.maximum(_image_rates(problem, played), 1e-6)
    mean = rates.mean(axis=1)
    drawn = np.maximum(played.power_w - segments.idle_w, 1e-3)
    columns: Sequence[FloatArray] = (
        np.log(mean),
        np.log(played.power_w),
        np.log(drawn),
        np.log(rates.max(axis=1) / mean),
        np.log(mean / rates.min(axis=1)),
        10.0 * played.rate_doubt,
        np.log(np.abs(played.rate_doubt) + 1e-3),
        10.0 * played.power_doubt,
        np.log(np.abs(played.power_doubt) + 1e-4),
    )
    return np.concatenate((np.stack(columns, axis=1), played.busy, played.loss), axis=1)
