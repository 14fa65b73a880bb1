"""A process that works on a campaign's store and is killed, again and again.

``python campaign_to_kill.py FOLDER KILLS SEED``: forks a worker on the store, kills it with SIGKILL
after a random moment, looks at the store, and so on; then lets one finish. Prints JSON: how many
runs were finished at each look. Complaints end it with status 1.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from functools import cache
from pathlib import Path

from campaign_runs import fake_run, small_plan

from paretosoc.dse.tools.campaign.execute.runner import do_missing
from paretosoc.dse.tools.campaign.execute.workers import SameProcess
from paretosoc.dse.tools.campaign.plan.plan import Plan
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs, inputs_of
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store


@cache
def planned(runs: int) -> tuple[Plan, list[RunInputs]]:
    """Made before the fork: kills are for the store."""
    plan = small_plan(runs)
    inputs = inputs_of(plan, "test")
    assert len({entry.hash for entry in inputs}) == runs
    return plan, inputs


def work(folder: Path, runs: int, begun: int | None = None) -> None:
    plan, inputs = planned(runs)
    with Store(folder, create=True) as store:
        store.set_plan(plan.runs, inputs, plan.title)
        if begun is not None:
            os.write(begun, b".")
        do_missing(store, SameProcess(fake_run))


def look(folder: Path, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """Hashes of all finished runs; those not known yet must have the files that they gave."""
    with Store(folder) as store:
        finished = list(store.records(RunStatus.FINISHED))
        for record in finished:
            if record.hash not in known:
                files = store.files(record)
                assert files["front.json"] == f"front of {record.hash}".encode()
                assert record.figures is not None
        assert store.counts()[RunStatus.FAILED][0] == 0
    return frozenset(record.hash for record in finished)


def main(folder: Path, kills: int, seed: int, runs: int) -> None:
    rng = random.Random(seed)
    seen: list[int] = []
    kept: frozenset[str] = frozenset()
    done = 0
    while done < kills:
        planned(runs)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                work(folder, runs, begun=writer)
            finally:
                os._exit(0)
        os.close(writer)
        # Half of the kills anywhere from the start, half where runs are being done.
        if rng.random() < 0.5:
            os.read(reader, 1)
        os.close(reader)
        time.sleep(rng.uniform(0.0, 0.04))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        done += os.WIFSIGNALED(status)
        if (folder / "campaign.sqlite").exists() and (folder / "owners").exists():
            found = look(folder, kept)
            assert kept <= found, "a finished run was lost"
            kept = found
            seen.append(len(found))
            if len(found) == runs:
                # All is done before all kills are: more runs in the same store.
                runs += 60
    work(folder, runs)
    assert len(look(folder)) == runs
    assert list((folder / "parts").iterdir()) == []
    assert list((folder / "owners").iterdir()) == []
    print(json.dumps({"kills": done, "seen": seen, "runs": runs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
