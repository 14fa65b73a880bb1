"""A campaign on a local Dask cluster of two workers, one of which is killed: ``FOLDER``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from campaign_runs import fake_run, sleepy_run, small_plan

from paretosoc.dse.tools.campaign.execute.dask_workers import DaskWorkers
from paretosoc.dse.tools.campaign.execute.runner import do_missing
from paretosoc.dse.tools.campaign.execute.workers import SameProcess
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store


def contents(folder, workers, on_progress=None):
    plan = small_plan(40)
    with Store(folder, create=True) as store:
        store.set_plan(plan.runs, inputs_of(plan, "test"), plan.title)
        progress = do_missing(store, workers, on_progress=on_progress)
        assert progress.finished == 40
        return {run.hash: store.files(run) for run in store.records(RunStatus.FINISHED)}


def main(folder: Path) -> None:
    from distributed import LocalCluster

    here = contents(folder / "here", SameProcess(fake_run))
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        victims = [cluster.workers[0].process.process.pid]

        def kill_one(progress):
            if progress.finished >= 5 and victims:
                os.kill(victims.pop(), signal.SIGKILL)

        workers = DaskWorkers(sleepy_run, cluster.scheduler_address)
        there = contents(folder / "there", workers, kill_one)
        workers.close()
        assert not victims
    assert here == there
    print(len(there), "finished")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
