"""The plan in ``deployment.json``: frames that keep it, and how long the networks took.

Every queue (a unit, or a network on a shared unit) runs its engines in the order of the plan, and
waits if the next one is not ready.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from threading import Event
from typing import Any

Document = Mapping[str, Any]
Frame = Callable[[], Sequence[int]]
"""Runs a frame. Returns the end of each run of the plan, ns from the beginning of the frame."""


def frame_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`run_frames`."""
    parser.add_argument("--frames", type=_from(1), default=100, help="Number of frames that count.")
    parser.add_argument(
        "--warm-up", type=_from(0), default=10, help="Number of frames before these."
    )


def _from(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isdecimal() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"an integer from {least} is required, got {text!r}")
        return int(text)

    return read


def queues_of(document: Document) -> dict[str, list[int]]:
    """Return the positions of the runs of each queue, in order. End the program if a run waits for
    a later one."""
    queues: dict[str, list[int]] = {}
    for i, run in enumerate(document["plan"]["runs"]):
        if any(other >= i for other in run["waits_for"]):
            sys.exit(f"deployment.json: run {i} of the plan must wait for earlier runs")
        queues.setdefault(run["queue"], []).append(i)
    return queues


def wait_until(instant_ns: int) -> None:
    """Wait for an instant of ``time.perf_counter_ns``."""
    while (left := instant_ns - time.perf_counter_ns()) > 0:
        if left > 2_000_000:
            time.sleep((left - 1_000_000) / 1e9)


def threaded_frame(document: Document, work: Callable[[int, int], None]) -> Frame:
    """Return the function that runs a frame with a thread for each queue.

    Args:
        document: content of ``deployment.json``.
        work: runs a segment: position of the network, and of the segment in it.
    """
    runs, queues = document["plan"]["runs"], queues_of(document)
    pool = ThreadPoolExecutor(len(queues))

    def frame() -> list[int]:
        began, ends = time.perf_counter_ns(), [0] * len(runs)
        ended, failed = [Event() for _ in runs], Event()

        def keep_order(queue: Sequence[int]) -> None:
            try:
                for i in queue:
                    for other in runs[i]["waits_for"]:
                        ended[other].wait()
                    if failed.is_set():
                        return
                    wait_until(began + runs[i]["ready_ns"])
                    work(runs[i]["network"], runs[i]["segment"])
                    ends[i] = time.perf_counter_ns() - began
                    ended[i].set()
            except BaseException:
                failed.set()
                for event in ended:
                    event.set()
                raise

        for future in [pool.submit(keep_order, queue) for queue in queues.values()]:
            future.result()
        return ends

    return frame


def run_plan(
    document: Document, work: Callable[[int, int], None], warm_up: int, frames: int
) -> None:
    """Run frames with a thread for each queue, if the networks have frames. ``work`` as for
    :func:`threaded_frame`."""
    if document["plan"] is None:
        print("no latency was measured: the networks run freely, without a common frame")
    else:
        run_frames(document, threaded_frame(document, work), warm_up, frames)


def run_frames(document: Document, frame: Frame, warm_up: int, frames: int) -> None:
    """Run frames one after the other, or one in every period, and print how long the networks
    took."""
    period, began = document["plan"]["period_ns"] or 0, time.perf_counter_ns()
    found = []
    for k in range(warm_up + frames):
        wait_until(began + k * period)
        ends = frame()
        if k >= warm_up:
            found.append(ends)
    for line in _lines(document, found):
        print(line)


def _lines(document: Document, found: Sequence[Sequence[int]]) -> list[str]:
    plan, lines = document["plan"], []
    every = {(run["network"], run["release_ns"]) for run in plan["runs"]}
    what = "latency" if len(every) == len(document["networks"]) else "response"
    for n, network in enumerate(document["networks"]):
        own = [(i, run["release_ns"]) for i, run in enumerate(plan["runs"]) if run["network"] == n]
        releases = sorted({release for _, release in own})
        times = [
            max(ends[i] for i, its in own if its == release) - release
            for ends in found
            for release in releases
        ]
        line = (
            f"{network['name']}: {what} {median(times) / 1e6:.3f} ms (median), "
            f"{max(times) / 1e6:.3f} ms (longest of {len(times)}); predicted "
            f"{plan['predicted_ns'][n] / 1e6:.3f} ms"
        )
        if plan["guaranteed_ns"] is not None:
            bound = plan["guaranteed_ns"][n]
            late = sum(time > bound for time in times)
            line += f"; guaranteed {bound / 1e6:.3f} ms, later: {late}"
        lines.append(line)
    return lines
