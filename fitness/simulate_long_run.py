"""Endless frames by the compiled timeline.

It gives rates, power and energy in the long run of pipelines and free-running networks, and the
recurring part of single design points of networks with rates. For whole populations of the latter
see :func:`fitness.simulate.make_evaluator`.

A *stream* is a sequence of frames that never runs out: its first F frames are released at 0 (F =
``frames_in_flight``), its frame k + F when its frame k ends. A pipeline is one stream, whose frame
is the whole workload. If networks run freely, every network and every copy of one is a stream of
its own. With repeats, its frame ends with the last repeat.

Round k is over when every stream has ended k frames. Results are counted over a *window* that
begins and ends with rounds:

* for a single stream, from a state to its recurrence (:mod:`fitness.simulator.streams`). The
  state at the end of the first round is compared. Each time that twice as many rounds are over,
  the state at that round's end takes its place;
* otherwise, or if nothing has recurred before, it begins with the first round at which at least
  F + 2 rounds are over and 2048 executions have ended (768 with several streams). It ends with the
  first later one with 2 F + 8 rounds and 8192 executions (3072).

Let e be the stand-alone time of a stream's executions on a unit in the window of w ps (those that
reach over its ends count in part, whole ps), and l the time of one of its frames there. The
stream's *frame period* is the largest ceil(l w / e) over the units that it uses, 2**63 - 1 if e is
0. Since no unit executes more than w in the window, rates times loads add up to at most 1 on every
unit. :mod:`fitness.check.members.windows` states the same rules in plain form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.simulate import chosen_of, scheduled_groups
from paretosoc.fitness.simulator.layout import Plan, make_plan
from paretosoc.fitness.simulator.state import (
    AT_KEPT,
    HIGH_FJ,
    State,
    account_width,
    make_chosen,
    make_state,
)
from paretosoc.fitness.simulator.threads import RowSimulator, share_rows
from paretosoc.results.front.front import FreeRun
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.execution import frames_in_flight
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import rate_uhz, time_per_image_ps

SMALL_QUOTIENT, SMALL_DIVISOR = 1 << 50, 1 << 58
MAX_SHOWN = 1000
"""The shown part of a design point ends when this many executions have ended, if not before."""


@dataclass(frozen=True, eq=False)
class LongRuns:
    """Windows, loads and energies of n design points, undefined for impossible ones."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    window_ps: IntArray
    """[n]"""
    executed_ps: IntArray
    """[n, streams, units]: stand-alone time of the work that is executed in the window."""
    load_ps: IntArray
    """[n, streams, units]: stand-alone time of one frame."""
    idle_mw: IntArray
    """[n]: power that is drawn all the time."""
    dynamic_fj: IntArray
    """[n, units]: energy above idle power in the window, but for ``dynamic_high`` x 2**62 fJ."""
    dynamic_high: IntArray
    """[n, units]"""
    images: tuple[int, ...]
    """[streams]: images of a frame, 1 if there is one stream."""

    @cached_property
    def stream_period_ps(self) -> IntArray:
        """Return [n, streams]: the mean time from frame to frame of each stream."""
        used = self.possible[:, None, None] & (self.load_ps > 0)
        window = np.where(used, self.window_ps[:, None, None], 1)
        load, done = np.where(used, self.load_ps, 1), np.where(used, self.executed_ps, 1)
        periods = ceil_ratio(load, window, np.maximum(done, 1))
        result: IntArray = np.where(done > 0, periods, INT64_MAX).max(axis=2)
        return result

    @property
    def rate_uhz(self) -> IntArray:
        """Return [n, streams]: frames of each stream in 10^6 s, rounded down."""
        rates = [[rate_uhz(period) for period in row] for row in self.stream_period_ps.tolist()]
        return np.array(rates, dtype=np.int64).reshape(self.stream_period_ps.shape)

    @cached_property
    def frame_period_ps(self) -> IntArray:
        """Return [n]: the period of a pipeline, or the time per image of several streams."""
        periods = [time_per_image_ps(self.images, row) for row in self.stream_period_ps.tolist()]
        return np.array(periods, dtype=np.int64)

    def dynamic_energies(self) -> list[list[int]]:
        """Return [n][units]: energy above idle power in the window, fJ, in Python's integers."""
        return [
            [low + high * HIGH_FJ for low, high in zip(*row, strict=True)]
            for row in zip(self.dynamic_fj.tolist(), self.dynamic_high.tolist(), strict=True)
        ]

    def energies(self) -> list[tuple[int, int, int]]:
        """Return the energy and mean power of every row.

        The energy is per frame in fJ (per image if networks run freely), rounded down, at most
        2**63 - 1. The mean power is in uW, rounded down, and rounded up.

        Computed in Python's integers: slow networks beside fast ones draw more in a window than
        2**63 fJ.
        """
        result = []
        for i, dynamic in enumerate(self.dynamic_energies()):
            window = max(int(self.window_ps[i]), 1)
            drawn = int(self.idle_mw[i]) * window + sum(dynamic)
            power = 1000 * drawn
            energy = min(self.per_frame(i, drawn), INT64_MAX)
            result.append((energy, power // window, -(-power // window)))
        return result

    def per_frame(self, row: int, drawn_fj: int) -> int:
        """Return the share of one frame in an energy that a row draws in its window, rounded down.

        It is the mean power times the frame's time. With several streams it is the share of one
        image.
        """
        streams = self.load_ps.shape[1]
        window = max(int(self.window_ps[row]), 1)
        share: int = drawn_fj * int(self.frame_period_ps[row]) // (streams * window)
        return share


def ceil_ratio(load: IntArray, window: IntArray, done: IntArray) -> IntArray:
    """Return [...]: load x window / done, rounded up, at most 2**63 - 1. All are positive.

    The product takes up to 126 bits. If the quotient is small, the floating-point one is off by at
    most 2, so that its remainder, modulo 2**64, is exact. All others are computed in Python's
    integers.
    """
    near = load.astype(np.float64) * window / done
    far = (near >= SMALL_QUOTIENT) | (done >= SMALL_DIVISOR)
    down: IntArray = np.where(far, 0.0, near).astype(np.int64)
    rest = load * window - down * done
    up = np.asarray(-rest // done, dtype=np.int64)
    ratio: IntArray = down - up
    for at in zip(*np.nonzero(far), strict=True):
        exact = -(-int(load[at]) * int(window[at]) // int(done[at]))
        ratio[at] = min(exact, INT64_MAX)
    return ratio


LongRunEvaluator = Callable[[IntArray], LongRuns]


def stream_count(problem: Problem) -> int:
    """Return the number of streams: one for each free-running network, else one."""
    return 1 if problem.execution.has_frame else len(problem.networks)


def make_long_run_evaluator(problem: Problem, *, jobs: int = 1) -> LongRunEvaluator:
    """Return a function from rows [n, groups + domains] to :class:`LongRuns`.

    Rows are shared out over ``jobs`` threads. Each row's result depends on that row alone.

    Raises:
        ValueError: if the execution model has no long run.
    """
    plan = make_plan(problem)
    streams = stream_count(problem)
    simulate = share_rows(_stream_simulators(problem, plan, jobs))

    def evaluate(rows: IntArray) -> LongRuns:
        n = len(rows)
        possible = np.zeros(n, dtype=np.bool_)
        window, idle = (np.zeros(n, dtype=np.int64) for _ in range(2))
        executed = np.zeros((n, streams * plan.units), dtype=np.int64)
        dynamic, high = (np.zeros((n, plan.units), dtype=np.int64) for _ in range(2))
        simulate(rows, possible, window, executed, dynamic, high, idle)
        return LongRuns(
            possible=possible,
            window_ps=window,
            executed_ps=executed.reshape(n, streams, plan.units),
            load_ps=frame_loads(problem, np.asarray(rows)),
            idle_mw=idle,
            dynamic_fj=dynamic,
            dynamic_high=high,
            images=(1,) if problem.execution.has_frame else problem.images,
        )

    return evaluate


def frame_loads(problem: Problem, rows: IntArray) -> IntArray:
    """Return [n, streams, units]: the stand-alone time of one frame of a stream on a unit, in ps.

    All number formats of a unit are counted at its first entry. Groups that a unit cannot run count
    nothing. Rows are [n, groups + domains].
    """
    groups = problem.group_count
    mapping = rows[:, :groups].T
    first = [network.first_group for network in problem.networks]
    result = np.zeros((len(rows), stream_count(problem), len(problem.units)), dtype=np.int64)
    moving = (problem.repeats * problem.moving_ps(rows[:, :groups])).T
    for u, unit in enumerate(problem.units):
        points = (rows[:, groups + clock] for clock in unit.clocks)
        time = problem.frame_ps(u)[(np.arange(groups)[:, None], *points)]
        here = np.where((mapping == u) & (time > 0), time + moving, 0)
        of_network = np.add.reduceat(here, first, axis=0)
        one_stream = problem.execution.has_frame
        load = (of_network.sum(axis=0)[None] if one_stream else of_network).T
        result[:, :, problem.unit_of[u]] += load
    return result


def _stream_simulators(problem: Problem, plan: Plan, jobs: int) -> list[RowSimulator]:
    """Return a simulator for each thread."""
    from paretosoc.fitness.simulator.long_run import evaluate_streams

    def simulator() -> RowSimulator:
        chosen, state = make_chosen(plan), _endless(problem, plan)
        return lambda rows, *out: evaluate_streams(plan, rows, chosen, state, *out)

    return [simulator() for _ in range(jobs)]


def simulate_shown(
    problem: Problem, design: DesignPoint, *, most: int = MAX_SHOWN
) -> tuple[Schedule, tuple[int, int], int]:
    """Return a design point's schedule of endless frames, their window, and the schedule's end.

    The schedule has every execution that starts before the window ends or, if it is earlier, before
    the first instant at which ``most`` executions have ended. Each has its own end.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    from paretosoc.fitness.simulator.long_run import simulate_shown as simulate_kernel

    plan = make_plan(problem)
    state = _endless(problem, plan, log_rows=most + 3 * plan.queues)
    chosen = chosen_of(problem, plan, design.row)
    instants = np.zeros(3, dtype=np.int64)
    simulate_kernel(plan, chosen, state, most, instants)
    count = int(state.run.logged)
    groups = scheduled_groups(plan, chosen, state.logged[:count], state.log[:count])
    shown, begin, end = instants.tolist()
    return Schedule(tuple(sorted(groups))), (begin, end), shown


def _endless(problem: Problem, plan: Plan, *, log_rows: int = 0) -> State:
    """Return the state of frames that never run out."""
    rates = problem.has_rates
    return make_state(
        plan,
        frames=0,
        in_flight=1 if rates else frames_in_flight(problem.execution),
        streams=plan.networks if rates else stream_count(problem),
        log=log_rows > 0,
        log_rows=log_rows,
    )


def recurring_schedule(problem: Problem, design: DesignPoint) -> Schedule:
    """Return all executions of networks with rates from the beginning to the window's end.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    most = (MAX_PERIODS + 1) * make_plan(problem).instances
    return simulate_shown(problem, design, most=most)[0]


def recurring_dynamic_fj(problem: Problem, design: DesignPoint) -> tuple[int, ...]:
    """Return the energy above idle power of every unit in a period of the recurring window.

    It is for networks with rates, in fJ, rounded down.

    Raises:
        ValueError: if nothing recurs, or the design puts a group on a unit that cannot run it.
    """
    from paretosoc.fitness.simulator.rates import play_until_it_recurs

    plan, units = make_plan(problem), len(problem.units)
    state = _endless(problem, plan)
    if not play_until_it_recurs(plan, chosen_of(problem, plan, design.row), state):
        raise ValueError("nothing recurs: the units are overloaded")
    width = account_width(plan, plan.networks)
    now, kept = (state.account[at : at + width].tolist() for at in (0, AT_KEPT * width))
    periods = (now[0] - kept[0]) // plan.period_ps
    grown = [b - a for a, b in zip(kept, now, strict=True)]
    return tuple((grown[1 + u] + grown[1 + units + u] * HIGH_FJ) // periods for u in range(units))


def free_run_of(problem: Problem, design: DesignPoint, periods_ps: IntArray) -> FreeRun:
    """Return the summary of free-running networks.

    Args:
        periods_ps: [networks], of the same design point.
    """
    _, window, shown = simulate_shown(problem, design)
    return FreeRun(window, tuple(int(period) for period in periods_ps), shown)
