"""Networks that run freely: throughput and energy of design points, by the compiled timeline.

There is no common frame. Every network, and every copy of one, is a stream of its own: its first F
frames are released at 0 (F = ``frames_in_flight``), its frame k + F when its frame k ends; with
repeats, a frame ends with the last repeat. Play ends when every network has ended twelve frames.
The *slowest* is the network whose frame 12 ends last, the first of several. The *window* reaches
from the end of its frame 4 to the end of its frame 12; a network's *inferences* are its frames that
end after the window's beginning and not after its end. :mod:`fitness.reference.free_running` says
the same plainly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fitness.simulate import BoolArray, IntArray, chosen_of, row_of, scheduled_groups
from fitness.simulator.chains.chain_lanes import MOST_UNITS, make_chain_lanes
from fitness.simulator.chains.chain_tables import are_chains, make_chains
from fitness.simulator.layout import Plan, make_plan
from fitness.simulator.state import HIGH_FJ, LOG_WIDTH, LOGGED, make_chosen, make_state
from fitness.simulator.threads import RowPlayer, share_rows
from results.front.front import FreeRun
from results.front.schedule import Schedule
from results.io.canonical_json import INT64_MAX
from results.problem.problem import DesignPoint, Problem

FRAMES, WARM_UP_FRAMES = 12, 4
COUNTED = FRAMES - WARM_UP_FRAMES
MANY_ROWS = 100
"""From so many rows of a thread on chains are played side by side. That takes as long as the
slowest of those that are beside one another, and rows differ by a factor of a thousand: of ten
networks one row took six times as long as by the general kernel, 32 random ones twice as long,
2,000 two thirds of the time."""
MOST_SHOWN = 1000
"""What is shown of a design point ends when so many executions have ended, if not before."""


@dataclass(frozen=True, eq=False)
class FreeRuns:
    """What n design points give; values of impossible ones mean nothing."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    window_ps: IntArray
    """[n]"""
    inferences: IntArray
    """[n, networks]: frames that end in the window."""
    idle_mw: IntArray
    """[n]: power that is drawn all the time."""
    dynamic_fj: IntArray
    """[n]: energy above idle power in the window, but for ``dynamic_high`` times 2**62 fJ."""
    dynamic_high: IntArray
    """[n]"""

    @property
    def frame_time_ps(self) -> IntArray:
        """[n]: what a network takes for eight frames in the mean over the networks, rounded half
        up: 8 x networks x window / inferences of all. Of one network alone it is the window."""
        count = np.maximum(self.inferences.sum(axis=1), 1)
        doubled = 2 * COUNTED * self.inferences.shape[1] * self.window_ps
        times: IntArray = (doubled + count) // (2 * count)
        return times

    def dynamic_energies(self) -> list[int]:
        """Of every row: energy above idle power in the window, fJ, in Python's integers."""
        pairs = zip(self.dynamic_fj.tolist(), self.dynamic_high.tolist(), strict=True)
        return [low + high * HIGH_FJ for low, high in pairs]

    def energies(self) -> list[tuple[int, int, int]]:
        """Of every row: energy per inference in fJ, rounded down, at most 2**63 - 1; mean power in
        uW, rounded down, and rounded up.

        In Python's integers: slow networks beside fast ones draw more in a window than 2**63 fJ.
        """
        columns = (self.window_ps, self.inferences.sum(axis=1), self.idle_mw)
        result = []
        for window, count, idle, dynamic in zip(
            *(column.tolist() for column in columns), self.dynamic_energies(), strict=True
        ):
            energy = idle * window + dynamic
            time, scaled = max(window, 1), 1000 * energy
            per_inference = min(energy // max(count, 1), INT64_MAX)
            result.append((per_inference, scaled // time, -(-scaled // time)))
        return result


FreeRunEvaluator = Callable[[IntArray], FreeRuns]


def make_free_run_evaluator(
    problem: Problem, *, jobs: int = 1, as_chains: bool | None = None
) -> FreeRunEvaluator:
    """A function from rows [n, groups + domains] to what they give, shared out over ``jobs``
    threads; each row's result depends on that row alone.

    Chains have a kernel of their own that is faster for many rows; ``as_chains`` asks for it or for
    the general one whatever their number. Both give the same.
    """
    plan = make_plan(problem)
    if as_chains is None and have_chain_kernel(problem):
        players = _players_by_number(problem, plan, jobs)
    else:
        players = (_chain_players if as_chains else _stream_players)(problem, plan, jobs)
    play = share_rows(players)

    def evaluate(rows: IntArray) -> FreeRuns:
        n = len(rows)
        possible = np.zeros(n, dtype=np.bool_)
        window, dynamic, high, idle = (np.zeros(n, dtype=np.int64) for _ in range(4))
        inferences = np.zeros((n, plan.networks), dtype=np.int64)
        play(rows, possible, window, inferences, dynamic, high, idle)
        return FreeRuns(possible, window, inferences, idle, dynamic, high)

    return evaluate


def have_chain_kernel(problem: Problem) -> bool:
    """Whether the networks can be played by the kernel for chains."""
    return are_chains(problem) and len(problem.units) <= MOST_UNITS


def _players_by_number(problem: Problem, plan: Plan, jobs: int) -> list[RowPlayer]:
    """Play chains by the kernel that is the faster one for their number."""

    def player(few: RowPlayer, many: RowPlayer) -> RowPlayer:
        return lambda rows, *out: (few if len(rows) < MANY_ROWS else many)(rows, *out)

    pairs = zip(
        _stream_players(problem, plan, jobs), _chain_players(problem, plan, jobs), strict=True
    )
    return [player(*pair) for pair in pairs]


def _chain_players(problem: Problem, plan: Plan, jobs: int) -> list[RowPlayer]:
    """Play chains."""
    from fitness.simulator.chains.chains import play_many_chains

    chains = make_chains(problem, plan)

    def player() -> RowPlayer:
        lanes = make_chain_lanes(
            plan,
            in_flight=problem.frames_in_flight,
            frames=FRAMES,
            count_from=WARM_UP_FRAMES,
            streams=True,
        )
        return lambda rows, *out: play_many_chains(plan, chains, rows, lanes, *out)

    return [player() for _ in range(jobs)]


def _stream_players(problem: Problem, plan: Plan, jobs: int) -> list[RowPlayer]:
    """Play anything."""
    from fitness.simulator.free_running import evaluate_streams

    def player() -> RowPlayer:
        chosen = make_chosen(plan)
        state = make_state(
            plan,
            frames=FRAMES,
            in_flight=problem.frames_in_flight,
            count_from=WARM_UP_FRAMES,
            streams=True,
        )
        return lambda rows, *out: evaluate_streams(plan, rows, chosen, state, *out)

    return [player() for _ in range(jobs)]


def dynamic_by_unit(
    problem: Problem, rows: IntArray, runs: FreeRuns, *, jobs: int = 1
) -> list[list[int]]:
    """[n][units]: dynamic energy of each unit in the window, fJ.

    No timeline depends on powers, so rows are played again with those of one unit alone. The last
    unit that a row uses has what the others leave, so a row is played once less than it has units.

    Args:
        runs: of the same rows.
        jobs: threads.
    """
    used = [np.unique(row).tolist() for row in rows[:, : problem.group_count]]
    result = [[0] * len(problem.units) for _ in rows]
    for u in range(len(problem.units)):
        chosen = [i for i, units in enumerate(used) if u in units[:-1]]
        if not chosen:
            continue
        units = tuple(
            unit if v == u else replace(unit, dynamic_mw=np.zeros_like(unit.dynamic_mw))
            for v, unit in enumerate(problem.units)
        )
        alone = make_free_run_evaluator(replace(problem, units=units), jobs=jobs)(rows[chosen])
        for i, energy in zip(chosen, alone.dynamic_energies(), strict=True):
            result[i][u] = energy
    for i, whole in enumerate(runs.dynamic_energies()):
        result[i][used[i][-1]] = whole - sum(result[i])
    return result


def play_shown(
    problem: Problem, design: DesignPoint, *, most: int = MOST_SHOWN
) -> tuple[Schedule, FreeRun]:
    """What is shown of a design point, and its window.

    That is every execution that starts before the window ends or, if it is earlier, before the
    first instant at which ``most`` executions have ended. Each has its own end.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    from fitness.simulator.free_running import play_shown as play_kernel

    plan = make_plan(problem)
    chosen = chosen_of(problem, plan, row_of(design))
    state = make_state(
        plan,
        frames=FRAMES,
        in_flight=problem.frames_in_flight,
        count_from=WARM_UP_FRAMES,
        streams=True,
        log=True,
        log_rows=most + 3 * len(problem.units),
    )
    instants = np.zeros(3, dtype=np.int64)
    inferences = np.zeros(plan.networks, dtype=np.int64)
    play_kernel(plan, chosen, state, most, instants, inferences)
    count = int(state.scalar[LOGGED])
    log = state.log.reshape(-1, LOG_WIDTH)[:count]
    groups = scheduled_groups(problem, plan, chosen, state.logged[:count].tolist(), log)
    shown, begin, end = instants.tolist()
    run = FreeRun((begin, end), tuple(inferences.tolist()), shown)
    return Schedule(tuple(sorted(groups))), run
