"""Dask clusters, by the addresses of their schedulers: the only file that imports Dask."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

from paretosoc.common.text import shortened
from paretosoc.dse.certificate.subtree_search import SearchedSlice, search_slice
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import

CONNECT_SECONDS = 20
ASK_SECONDS = 2.0


def connect(address: str) -> Any:
    """Return a client of the scheduler.

    Raises:
        ResultError: if ``distributed`` is not installed, the address is none, no scheduler
            answers, or it has no workers.
    """
    distributed: Any = optional_import("distributed", extra="dask", purpose="--dask")
    # A client that failed to start may hang the start of the next one in the process.
    if not re.fullmatch(r"(?:[a-z]+://)?[^/\s]+:[0-9]{1,5}", address):
        raise ResultError(
            f"--dask: an address such as tcp://HOST:PORT is required, got {shortened(address)!r}"
        )
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise ResultError(f"--dask {address}: no scheduler answers: {error}") from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        client.close()
        raise ResultError(
            f"--dask {address}: no worker has joined within {CONNECT_SECONDS} s; "
            f"start one with: dask worker {address}"
        ) from None
    return client


class SearchCluster:
    """Searches subtrees of an exact search on a cluster.

    A task contains all its inputs, so that the scheduler can give the work of a worker that died to
    another.

    Raises:
        ResultError: as :func:`connect`.
    """

    def __init__(self, address: str) -> None:
        self._client = connect(address)
        self._address = address
        self._sent: tuple[bytes, Any] = (b"", None)

    def __call__(self, task: bytes, states: Sequence[bytes], nodes: int) -> list[SearchedSlice]:
        """Apply :func:`dse.certificate.subtree_search.search_slice` to each state.

        Raises:
            ResultError: if the scheduler has gone.
        """
        if task != self._sent[0]:
            # A result that every worker fetches once, and that can be made again if a worker dies.
            self._sent = (task, self._client.submit(bytes, task, pure=False))
        futures = [
            self._client.submit(search_slice, self._sent[1], state, nodes, pure=False)
            for state in states
        ]
        return [self._result(future) for future in futures]

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()

    def _result(self, future: Any) -> SearchedSlice:
        while True:
            try:
                found: SearchedSlice = future.result(timeout=ASK_SECONDS)
                return found
            except (TimeoutError, CancelledError) as error:
                if isinstance(error, CancelledError) or self._client.status != "running":
                    raise ResultError(f"--dask {self._address}: the scheduler has gone") from None
