"""Networks that run freely: throughput and energy of design points, by the compiled timeline.

There is no common frame. Every network, and every copy of one, is a stream of its own: its first F
frames are released at 0 (F = ``frames_in_flight``), its frame k + F when its frame k ends; with
repeats, a frame ends with the last repeat. Play ends when every network has ended twelve frames.
The *slowest* is the network whose frame 12 ends last, the first of several. The *window* reaches
from the end of its frame 4 to the end of its frame 12; a network's *inferences* are its frames that
end after the window's beginning and not after its end. :mod:`fitness.plain_free_run` says the same
plainly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from fitness.plan import GROUP, INSTANCE_WIDTH, JOB, JOB_WIDTH, NETWORK, Plan, make_plan
from fitness.timeline import BoolArray, IntArray, row_of, share_rows
from fitness.timeline_state import (
    ALONE,
    GROUP_WIDTH,
    HIGH_FJ,
    LOG_WIDTH,
    LOGGED,
    UNIT,
    make_chosen,
    make_state,
)
from results.canonical_json import INT64_MAX
from results.problem import DesignPoint, Problem
from results.schedule import Schedule, ScheduledGroup

FRAMES, WARM_UP_FRAMES = 12, 4
COUNTED = FRAMES - WARM_UP_FRAMES
MOST_SHOWN = 4000
"""Executions after which the beginning that is shown of a design point ends."""


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

    def energies(self) -> list[tuple[int, int, int]]:
        """Of every row: energy per inference in fJ, rounded down, at most 2**63 - 1; mean power in
        uW, rounded down, and rounded up.

        In Python's integers: slow networks beside fast ones draw more in a window than 2**63 fJ.
        """
        columns = (self.window_ps, self.inferences.sum(axis=1), self.idle_mw)
        result = []
        for window, count, idle, low, high in zip(
            *(column.tolist() for column in (*columns, self.dynamic_fj, self.dynamic_high)),
            strict=True,
        ):
            energy = idle * window + low + high * HIGH_FJ
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

    Chains have a faster kernel; ``as_chains`` asks for it or for the other one, which gives the
    same.
    """
    plan = make_plan(problem)
    play = (
        _chain_kernel(problem, plan, jobs)
        if (are_chains(problem) if as_chains is None else as_chains)
        else _stream_kernel(problem, plan, jobs)
    )
    run = share_rows(jobs)

    def evaluate(rows: IntArray) -> FreeRuns:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        n = len(rows)
        possible = np.zeros(n, dtype=np.bool_)
        window, dynamic, high, idle = (np.zeros(n, dtype=np.int64) for _ in range(4))
        inferences = np.zeros((n, plan.networks), dtype=np.int64)
        out = (possible, window, inferences, dynamic, high, idle)
        run(n, lambda job, part: play(job, rows[part], *(array[part] for array in out)))
        return FreeRuns(possible, window, inferences, idle, dynamic, high)

    return evaluate


def are_chains(problem: Problem) -> bool:
    """Whether every network is a chain: each group feeds the next one and no other."""
    steps = {step for network in problem.networks for step in pairwise(network.groups)}
    return set(problem.edges) == steps and len(problem.edges) == len(steps)


def _chain_kernel(problem: Problem, plan: Plan, jobs: int) -> Callable[..., object]:
    """A function of the thread, its rows and what to fill, with buffers for each thread."""
    from fitness.free_chain_play import evaluate_free_chains, make_free_chains

    buffers = [
        (
            make_chosen(plan),
            make_free_chains(problem, plan, frames=FRAMES, count_from=WARM_UP_FRAMES),
        )
        for _ in range(jobs)
    ]
    return lambda job, rows, *out: evaluate_free_chains(plan, rows, *buffers[job], *out)


def _stream_kernel(problem: Problem, plan: Plan, jobs: int) -> Callable[..., object]:
    """The same where groups may form graphs."""
    from fitness.free_run_play import evaluate_streams

    buffers = [
        (
            make_chosen(plan),
            make_state(
                plan,
                frames=FRAMES,
                in_flight=problem.frames_in_flight,
                count_from=WARM_UP_FRAMES,
                streams=True,
            ),
        )
        for _ in range(jobs)
    ]
    return lambda job, rows, *out: evaluate_streams(plan, rows, *buffers[job], *out)


def dynamic_by_unit(problem: Problem, rows: IntArray) -> list[list[int]]:
    """[n][units]: dynamic energy of each unit in the window, fJ. No timeline depends on powers, so
    they are left out of all units but one in turn."""
    columns = []
    for u in range(len(problem.units)):
        units = tuple(
            unit if v == u else replace(unit, dynamic_mw=np.zeros_like(unit.dynamic_mw))
            for v, unit in enumerate(problem.units)
        )
        runs = make_free_run_evaluator(replace(problem, units=units))(rows)
        pairs = zip(runs.dynamic_fj.tolist(), runs.dynamic_high.tolist(), strict=True)
        columns.append([low + high * HIGH_FJ for low, high in pairs])
    return [list(row) for row in zip(*columns, strict=True)]


def free_run_schedule(problem: Problem, design: DesignPoint) -> Schedule:
    """The beginning of a design point: all that has ended when every network has ended a frame, or
    when ``MOST_SHOWN`` executions have, at the first such instant.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    from fitness.design_kernel import choose
    from fitness.free_run_play import play_beginning

    plan = make_plan(problem)
    chosen = make_chosen(plan)
    row = row_of(design)
    if not choose(plan, row, chosen):
        group = next(g for g in range(plan.groups) if chosen.group[g * GROUP_WIDTH + ALONE] < 0)
        raise ValueError(f"group {group} cannot run on unit {problem.units[int(row[group])].name}")
    state = make_state(
        plan,
        frames=FRAMES,
        in_flight=problem.frames_in_flight,
        count_from=WARM_UP_FRAMES,
        streams=True,
        log=True,
        log_rows=MOST_SHOWN + len(problem.units),
    )
    play_beginning(plan, chosen, state, MOST_SHOWN)
    count = int(state.scalar[LOGGED])
    first_job = np.cumsum([0] + [network.repeats for network in problem.networks]).tolist()
    rows = []
    for index, (ready, start, end) in zip(
        state.logged[:count].tolist(),
        state.log.reshape(-1, LOG_WIDTH)[:count].tolist(),
        strict=True,
    ):
        frame, instance = divmod(index, plan.instances)
        group = int(plan.instance[instance * INSTANCE_WIDTH + GROUP])
        job = int(plan.instance[instance * INSTANCE_WIDTH + JOB])
        network = int(plan.job[job * JOB_WIDTH + NETWORK])
        rows.append(
            ScheduledGroup(
                frame=frame + 1,
                network=network,
                repeat=job - first_job[network] + 1,
                group=group,
                unit=int(chosen.group[group * GROUP_WIDTH + UNIT]),
                ready_ps=ready,
                start_ps=start,
                end_ps=end,
                alone_ps=int(chosen.group[group * GROUP_WIDTH + ALONE]),
            )
        )
    return Schedule(tuple(sorted(rows)))
