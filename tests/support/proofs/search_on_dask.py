"""An exact search on a local Dask cluster of two workers, one of which is killed half-way."""

from __future__ import annotations

import os
import signal
from unittest.mock import patch

import numpy as np

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.branch_and_bound import SearchProgress, find_front
from paretosoc.dse.tools import dask_cluster
from paretosoc.dse.tools.dask_cluster import SearchCluster
from paretosoc.results.errors import ResultError
from paretosoc.results.front.proof_tree import tree_bytes


def error_without_workers() -> str:
    from distributed import LocalCluster

    with (
        patch.object(dask_cluster, "CONNECT_SECONDS", 1),
        LocalCluster(n_workers=0, dashboard_address=None) as cluster,
    ):
        try:
            SearchCluster(cluster.scheduler_address)
        except ResultError as error:
            return str(error).replace(cluster.scheduler_address, "ADDRESS")
    return "none"


def main() -> None:
    from distributed import LocalCluster

    print(error_without_workers())
    exact_search.SLICE_NODES, exact_search.SHARED_NODES = 500, 2000
    problem = reference_problem(points=False)
    here = find_front(problem)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        victims = [cluster.workers[0].process.process.pid]

        def kill_one(progress: SearchProgress) -> None:
            if 2 * progress.nodes >= here.nodes and victims:
                os.kill(victims.pop(), signal.SIGKILL)

        search = SearchCluster(cluster.scheduler_address)
        there = find_front(problem, cluster=search, on_progress=kill_one)
        search.close()
        assert not victims
    assert here.complete
    assert here.nodes == there.nodes
    assert np.array_equal(here.rows, there.rows)
    assert tree_bytes(here.tree) == tree_bytes(there.tree)
    print("the same")


if __name__ == "__main__":
    main()
