"""What the transformer reads of a design point: a token per stretch, and one that sums up.

MapFormer 4.1 looks a layer, a component and an operating point up in learned tables, so that it
knows only networks it was trained with. Here the layer's part is made of figures (how long, how
much memory, how much power, how often), which any network has; component and operating point are
looked up as in the paper. The figures and the summary contain a short play of the mapping
(:mod:`dse.papers.estimator.truncated_simulation`): with sixteen classes a bin is often not wider
than 10 %, and who waits for whom is a matter of queues that four layers do not learn from 2,000
workloads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.papers.estimator.features import FigureReader, Figures, loss_parameters
from dse.papers.estimator.segments import Stretches, stretches_of
from dse.papers.estimator.truncated_simulation import ShortPlay, play_shortly
from dse.space.design_space import DesignSpace
from results.front.dominance import FloatArray
from results.problem.problem import IntArray, Problem

Float32Array = NDArray[np.float32]

STRETCH_FIGURES = (
    *("log work", "log work per group", "log groups", "demand", "log power"),
    *("log transition", "begins at", "share of its network"),
    *("unit busy", "unit slowed", "log rate", "log waiting", "share of rates", "share of unit"),
    *("log stretches", "clock", "memory clock"),
)
NEAR_ZERO_S = 1e-6


@dataclass(frozen=True, eq=False)
class Tokens:
    """Of n rows; at most T stretches each, the rest is padding."""

    length: IntArray
    """[n]: stretches of each row."""
    figures: Float32Array
    """[n, T, figures]: see ``STRETCH_FIGURES``."""
    unit: IntArray
    """[n, T]: which component."""
    point: IntArray
    """[n, T]: its operating point, those of all domains counted on."""
    position: IntArray
    """[n, T]: place of the stretch within its network."""
    summary: Float32Array
    """[n, summary figures]: see :func:`_summary`."""
    throughput_hz: FloatArray
    """[n]: what the short play says."""
    power_w: FloatArray
    """[n]: what the short play says."""


class TokenMaker:
    """Makes tokens of the rows of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._reader = FigureReader(problem)
        self._losses = loss_parameters(problem)

    def __call__(self, rows: IntArray) -> Tokens:
        """The tokens of ``rows`` [n, groups + domains]."""
        figures = self._reader(rows)
        return tokens_of(self._reader.problem, self._reader.space, figures, self._losses, rows)


def tokens_of(
    problem: Problem, space: DesignSpace, looked_up: Figures, losses: FloatArray, rows: IntArray
) -> Tokens:
    """Tokens of rows from the figures that were looked up for them."""
    mapping, points = rows[:, : space.groups], rows[:, space.groups :]
    played = play_shortly(
        looked_up, mapping, space.first, space.size, losses, problem.frames_in_flight
    )
    stretches = stretches_of(looked_up, played.residence_s, space, rows)
    speed = _speeds(problem, points)
    clock = np.array([unit.clocks[0] for unit in problem.units])
    figures = _figures(problem, stretches, played, speed, clock)
    # Stretches of a row one after the other, padding behind them.
    valid = np.arange(stretches.unit.shape[2]) < stretches.count[:, :, None]
    n = len(points)
    flat = valid.reshape(n, -1)
    length = flat.sum(axis=1)
    order = np.argsort(~flat, axis=1, kind="stable")[:, : int(length.max(initial=1))]
    own = clock[stretches.unit]
    begin = np.cumsum([0] + [len(domain.allowed) for domain in problem.domains])
    at = np.arange(n)[:, None, None]
    point = begin[own] + points[at, own]
    position = np.broadcast_to(np.arange(stretches.unit.shape[2]), stretches.unit.shape)

    def packed(values: IntArray) -> IntArray:
        return np.take_along_axis(values.reshape(n, -1), order, axis=1)

    return Tokens(
        length=length.astype(np.int64),
        figures=np.take_along_axis(
            figures.reshape(n, flat.shape[1], -1), order[:, :, None], axis=1
        ).astype(np.float32),
        unit=packed(stretches.unit),
        point=packed(point),
        position=packed(position),
        summary=_summary(problem, stretches, played, speed, points).astype(np.float32),
        throughput_hz=_frame_rates(problem, played).mean(axis=1),
        power_w=played.power_w,
    )


def _frame_rates(problem: Problem, played: ShortPlay) -> FloatArray:
    """[n, N]: frames per second."""
    rates: FloatArray = played.rate_hz / [network.repeats for network in problem.networks]
    return rates


def _speeds(problem: Problem, points: IntArray) -> FloatArray:
    """[n, domains]: clocks as shares of the fastest."""
    ladders = [
        np.array(domain.frequencies_khz) / domain.frequencies_khz[-1] for domain in problem.domains
    ]
    return np.stack([ladder[points[:, d]] for d, ladder in enumerate(ladders)], axis=1)


def _figures(
    problem: Problem, stretches: Stretches, played: ShortPlay, speed: FloatArray, clock: IntArray
) -> FloatArray:
    """[n, N, S, figures] in the order of ``STRETCH_FIGURES``; nothing where there is no stretch."""
    valid = stretches.work_s > 0.0
    work = np.where(valid, stretches.work_s, 1.0)
    groups = np.maximum(stretches.groups, 1.0)
    whole = stretches.work_s.sum(axis=2, keepdims=True)
    before = np.cumsum(stretches.work_s, axis=2) - stretches.work_s
    row = np.arange(len(work))[:, None, None]
    rate = np.broadcast_to(played.rate_hz[:, :, None], work.shape)
    total = np.maximum(played.rate_hz.sum(axis=1), 1e-12)[:, None, None]
    memory = problem.memory_domain
    memory_speed = np.ones(len(work)) if memory is None else speed[:, memory]
    kept = 1.0 - played.loss[row, stretches.unit]
    columns = (
        np.log(work),
        np.log(work / groups),
        np.log(groups),
        stretches.demand_kbps * 1e-8,
        np.log1p(stretches.dynamic_w),
        np.log(stretches.transition_s + NEAR_ZERO_S),
        before / whole,
        work / whole,
        played.busy[row, stretches.unit],
        played.loss[row, stretches.unit],
        np.log(np.maximum(rate, 1e-6)),
        np.log(np.clip(stretches.residence_s / work, 0.5, 1e4)),
        rate / total,
        np.minimum(rate * work / kept, 2.0),
        np.broadcast_to(np.log(stretches.count)[:, :, None], work.shape),
        speed[row, clock[stretches.unit]],
        np.broadcast_to(memory_speed[:, None, None], work.shape),
    )
    return np.stack(columns, axis=-1)


def _summary(
    problem: Problem, stretches: Stretches, played: ShortPlay, speed: FloatArray, points: IntArray
) -> FloatArray:
    """[n, 12 + 2 units + 2 domains]: throughput and power as played (logarithms), idle power, how
    uneven the rates are, how many networks and stretches, how far to trust it; of each unit how
    busy and how slowed it is; of each domain its clock and whether it is on."""
    rates = np.maximum(_frame_rates(problem, played), 1e-6)
    mean = rates.mean(axis=1)
    drawn = np.maximum(played.power_w - stretches.idle_w, 1e-3)
    units = np.arange(len(problem.units))
    used = ((stretches.unit[..., None] == units) & (stretches.work_s > 0.0)[..., None]).any((1, 2))
    drives = np.zeros((len(units), len(problem.domains)), dtype=np.bool_)
    for u, unit in enumerate(problem.units):
        drives[u, list(unit.clocks)] = True
    columns: Sequence[FloatArray] = (
        np.log(mean),
        np.log(played.power_w),
        np.log(stretches.idle_w),
        np.log(drawn),
        np.log(rates.max(axis=1) / mean),
        np.log(mean / rates.min(axis=1)),
        np.log(np.full(len(points), len(problem.networks))),
        np.log(stretches.count.sum(axis=1)),
        10.0 * played.rate_doubt,
        np.log(np.abs(played.rate_doubt) + 1e-3),
        10.0 * played.power_doubt,
        np.log(np.abs(played.power_doubt) + 1e-4),
    )
    return np.concatenate(
        (np.stack(columns, axis=1), played.busy, played.loss, speed, (used @ drives) * 1.0), axis=1
    )
