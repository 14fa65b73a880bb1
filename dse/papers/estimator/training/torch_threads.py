"""Run PyTorch on one thread, whatever it was set to before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Has PyTorch compute on one thread, and afterwards on as many as before.

    The products are too small to share: an epoch of the estimator took 3 s of the processor on one
    thread, and on two of a machine that others were using, where threads wait for one another,
    more than ten times that. Besides, weights then do not depend on the number of cores.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
