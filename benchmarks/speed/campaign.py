"""The cost of a campaign beside its explorations, the speed of a large store, and a cluster.

``python -m benchmarks.speed.campaign [--runs 1000] [--evaluations 20000] [--stored 1000000]
[--json]``
"""

from __future__ import annotations

import os
import resource
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.harness.report import Column, Value, parser, show
from paretosoc.dse.tools.campaign.execute.exploration import explore_run
from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress, do_missing
from paretosoc.dse.tools.campaign.execute.workers import LocalWorkers, SameProcess
from paretosoc.dse.tools.campaign.plan.plan import NamedWorkload, Plan, Rules, make_plan
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of, program_identity
from paretosoc.dse.tools.campaign.plan.settings import DEFAULTS, Choice
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.dse.workload.options import AXES

WORKERS = 2
NETWORKS = ("squeezenet", "googlenet", "resnet18", "mobilenet_v2", "alexnet")
SEEDS = 20
CLUSTER_RUNS = 24

COLUMNS = (
    Column("what", "what"),
    Column("figure", "figure", ",.3f"),
    Column("unit", "unit"),
    Column("required", "required"),
)


def main() -> None:
    """Measures and prints."""
    arguments = parser("benchmarks.speed.campaign", (__doc__ or "").splitlines()[0])
    arguments.add_argument("--runs", type=int, default=1000, help="explorations on two processes")
    arguments.add_argument("--evaluations", type=int, default=20_000, help="of each")
    arguments.add_argument("--stored", type=int, default=1_000_000, help="runs in the large store")
    arguments.add_argument("--no-dask", action="store_true", help="leave out the cluster")
    chosen = arguments.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = measure_runs(folder / "runs", chosen.runs, chosen.evaluations)
        rows += measure_store(folder / "stored", chosen.stored)
        if not chosen.no_dask:
            rows += measure_cluster(folder)
    show(
        f"A campaign of {chosen.runs:,} explorations of {chosen.evaluations:,} design points, "
        f"{WORKERS} processes",
        COLUMNS,
        rows,
        as_json=chosen.json,
        notes=(
            "An exploration: building the problem (or remembering it), the search, the result's "
            "files, as in dse explore; what is left is the campaign's own cost: starting the "
            "processes, and the time in which one of them has no run.",
            f"Load of the machine at the start: {load:.1f} on {os.cpu_count()} cores. The shares "
            "hardly depend on it; how much of two cores the explorations got does.",
        ),
    )


def pairs_plan(runs: int, evaluations: int) -> Plan:
    """Return a plan of ``runs`` runs: pairs of networks, with and without a cap, under several
    seeds."""
    names = [f"{a}+{b}" for i, a in enumerate(NETWORKS) for b in NETWORKS[i + 1 :]]
    lists: dict[str, tuple[Choice, ...]] = {name: (DEFAULTS[name],) for name in AXES}
    lists |= {
        "platform": ("jetson-agx-xavier", "jetson-agx-orin-32gb"),
        "max_transitions": (None, 4, 2),
        "max_evaluations": (evaluations,),
        "seed": tuple(range(SEEDS)),
    }
    workloads = tuple(
        NamedWorkload(name, tuple(name.split("+")), tuple(name.split("+"))) for name in names
    )
    plan = make_plan(Rules(title="benchmark", workloads=workloads, values=lists))
    if runs > len(plan.runs):
        raise SystemExit(f"--runs: at most {len(plan.runs):,}")
    return Plan(plan.title, plan.runs[:runs], plan.keep)


def filled(folder: Path, plan: Plan) -> Store:
    """Return a store that knows the runs."""
    store = Store(folder, create=True)
    store.set_plan(plan.runs, inputs_of(plan, program_identity()), plan.title)
    return store


def measure_runs(folder: Path, runs: int, evaluations: int) -> list[dict[str, Value]]:
    """Measure the CPU time of the parts of a campaign, and the growth of its memory."""
    plan = pairs_plan(runs, evaluations)
    memory: list[tuple[int, float]] = []
    own_before = time.process_time()
    began = time.monotonic()
    with filled(folder, plan) as store:
        workers = LocalWorkers(explore_run, WORKERS)

        def note(progress: CampaignProgress) -> None:
            resident = [resident_mb(pid) for pid in (os.getpid(), *workers.process_ids)]
            memory.append((progress.done_here, sum(resident)))

        try:
            progress = do_missing(store, workers, on_progress=note)
            spent = sum(cpu_seconds(pid) for pid in workers.process_ids)
        finally:
            workers.close()
        seconds = time.monotonic() - began
        records = list(store.records(figures=False))
    if progress.failed:
        raise SystemExit(f"{progress.failed} runs have failed: {records[0].error}")
    own = time.process_time() - own_before
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = own + max(spent, children.ru_utime + children.ru_stime)
    search = sum(record.search_cpu_seconds or 0.0 for record in records)
    whole = sum(record.cpu_seconds or 0.0 for record in records)
    inside = sum(record.seconds or 0.0 for record in records)
    return [
        row("runs per second", runs / seconds, "1/s"),
        row("explorations, of all processes' CPU time", 100 * whole / total, "%", ">= 90"),
        row(
            "explorations, of the two processes' wall time",
            100 * inside / (WORKERS * seconds),
            "%",
            ">= 90",
        ),
        row("cores that the explorations got of two", whole / seconds, ""),
        row("search alone, of all processes' CPU time", 100 * search / total, "%"),
        row("CPU time beside the runs: plan, store, starting workers", total - whole, "s"),
        row("memory of all processes at the end", memory[-1][1] if memory else None, "MB"),
        row(
            "median of the last fifth of the runs, above that of the second",
            late_growth(memory, runs),
            "%",
            "flat",
        ),
        row("disk for a run", disk_mb(folder) * 1000 / runs, "kB"),
    ]


def late_growth(memory: Sequence[tuple[int, float]], runs: int) -> float | None:
    """Return the growth of memory in percent, from pairs of (runs done, MB), or None if there are
    too few.

    The first fifth fills the workers' caches. Medians are compared, because a worker holds 10 %
    more or less while it is at a large problem or writes a large front: two moments say nothing.
    """
    second = [mb for count, mb in memory if runs < 5 * count <= 2 * runs]
    last = [mb for count, mb in memory if 5 * count > 4 * runs]
    return 100 * (median(last) / median(second) - 1) if second and last else None


def measure_store(folder: Path, stored: int) -> list[dict[str, Value]]:
    """Measure how long a store with ``stored`` finished runs takes to answer."""
    from paretosoc.dse.tools.campaign.store.run import connect

    with filled(folder, pairs_plan(2, 100)) as store:
        do_missing(store, SameProcess(explore_run), max_attempts=1)
    database = connect(folder / "campaign.sqlite", create=False)
    columns = [info[1] for info in database.execute("PRAGMA table_info(runs)")]
    others = [name for name in columns if name not in ("hash", "position", "name")]
    copied = ", ".join(others)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN")
    database.execute(
        f"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {stored - 1}) "
        f"INSERT INTO runs (hash, position, name, {copied}) "
        "SELECT lower(hex(randomblob(32))), i, 'run ' || i, "
        f"{copied} FROM n, (SELECT * FROM runs WHERE position = 0)"
    )
    database.execute("COMMIT")
    database.close()
    name = f"run {stored // 2}"
    opened = time.perf_counter()
    with Store(folder) as store:
        counts = store.counts()
        list(store.records(RunStatus.FAILED, most=10, figures=False))
        status_s = time.perf_counter() - opened
        began = time.perf_counter()
        record = store.find(name)
        row_ms = 1000 * (time.perf_counter() - began)
        began = time.perf_counter()
        assert store.find(record.hash).name == name
        hash_ms = 1000 * (time.perf_counter() - began)
    assert counts[RunStatus.FINISHED][0] == stored
    return [
        row(f"status of {stored:,} finished runs", status_s, "s", "< 2"),
        row("one of them read by its name", row_ms, "ms", "< 10"),
        row("by its hash", hash_ms, "ms", "< 10"),
    ]


def measure_cluster(folder: Path) -> list[dict[str, Value]]:
    """Compare the same runs here and on a cluster of two workers, one of which is killed."""
    from distributed import LocalCluster

    from paretosoc.dse.tools.campaign.execute.dask_workers import DaskWorkers

    plan = pairs_plan(CLUSTER_RUNS, 2000)
    with filled(folder / "here", plan) as store:
        workers = LocalWorkers(explore_run, WORKERS)
        try:
            do_missing(store, workers)
        finally:
            workers.close()
        here = results(store)
    with (
        filled(folder / "there", plan) as store,
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        victims = [cluster.workers[0].process.process.pid]

        def kill_one(progress: CampaignProgress) -> None:
            if progress.finished >= 3 and victims:
                os.kill(victims.pop(), signal.SIGKILL)

        dask = DaskWorkers(explore_run, cluster.scheduler_address)
        try:
            progress = do_missing(store, dask, on_progress=kill_one)
        finally:
            dask.close()
        there = results(store)
    same = sum(here[name] == there.get(name) for name in here)
    return [
        row("runs on a Dask cluster, a worker killed in the middle", len(there), ""),
        row("of these with the same bytes as here", same, "", f"{len(here)}"),
        row("failed", progress.failed, "", "0"),
    ]


def results(store: Store) -> dict[str, dict[str, bytes]]:
    """Return the files of all finished runs."""
    return {run.hash: store.files(run) for run in store.records(RunStatus.FINISHED)}


def row(what: str, figure: Value, unit: str, required: str = "") -> dict[str, Value]:
    """Return a line of the table."""
    return {"what": what, "figure": figure, "unit": unit, "required": required}


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    return _statistics(pid, "statm")[1] * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process that is still there."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _statistics(pid: int, name: str) -> Sequence[int]:
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8") as file:
            return [int(text) for text in file.read().split()]
    except OSError:
        return [0] * 7


def disk_mb(folder: Path) -> float:
    """Return the size of the files in a folder in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
