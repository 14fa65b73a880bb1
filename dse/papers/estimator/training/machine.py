"""Use of the machine in training: processes for data, one thread for PyTorch."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from paretosoc.common.processes import end_with_parent

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_processes(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    on_done: Callable[[int], None],
) -> list[Result]:
    """Return ``work`` of every task, in the order of the tasks. With one job it runs in this
    process.

    Processes are spawned, not forked, so ``work`` must be a function of a module.

    Args:
        on_done: called with the number of finished tasks, counted in their order.
    """

    def collected(found: Iterable[Result]) -> list[Result]:
        results = []
        for result in found:
            results.append(result)
            on_done(len(results))
        return results

    if jobs == 1:
        return collected(map(work, tasks))
    workers = ProcessPoolExecutor(
        jobs,
        mp_context=get_context("spawn"),
        # Ctrl-C reaches every process; this one ends the others.
        initializer=end_with_parent,
        initargs=(signal.SIG_IGN,),
    )
    try:
        return collected(workers.map(work, tasks))
    finally:
        # No ``with``: its own shutdown would undo the cancelling of waiting tasks.
        workers.shutdown(cancel_futures=True)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let PyTorch compute on one thread, and afterwards on as many as before.

    The products are too small to share: an epoch of the estimator took 3 s of the processor on one
    thread, and more than ten times that on two threads of a machine that others were using, because
    threads wait for one another. Besides, weights then do not depend on the number of cores.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
