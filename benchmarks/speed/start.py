"""CPU seconds of commands once everything is compiled: small problems, and a front of thousands.

``python -m benchmarks.speed.start [--members 10000] [--repetitions 3]
[--against FOLDER] [--json]``
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import paretosoc as dse
from benchmarks.harness.report import Column, Value, parser, show
from paretosoc.dse.api.front import Front
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.dse.version import VERSION
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front import front as results_front
from paretosoc.results.front.dominance import non_dominated

ROOT = Path(__file__).parents[2]
PLATFORM = "jetson-agx-xavier"
NETWORKS = ("vgg19", "resnet50", "alexnet", "inception_v1", "mobilenet_v1", "resnet18")
ROWS_PER_MEMBER = 50
COMMAND = "from paretosoc.dse.cli.main import main; main()"


def main() -> None:
    """Measures and prints."""
    arguments = parser("benchmarks.speed.start", (__doc__ or "").splitlines()[0])
    arguments.add_argument("--members", type=int, default=10_000, help="of the large front")
    arguments.add_argument("--against", type=Path, help="another checkout, measured in turn")
    arguments.add_argument("--repetitions", type=int, default=3, help="the least counts")
    chosen = arguments.parse_args()
    trees = [ROOT] if chosen.against is None else [ROOT, chosen.against]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large, small, page = folder / "large", folder / "small", folder / "page.html"
        members = write_large_front(large, chosen.members)
        explore = ("explore", "alexnet", "-p", PLATFORM, "--max-evaluations", "2000")
        rows = []
        for label, command in (
            ("explore", (*explore, "--max-nodes", "0", "--force", "-o", str(small))),
            ("show", ("show", str(small))),
            ("report", ("report", str(small), "--force", "-o", str(page))),
            ("verify", ("verify", str(small))),
            (f"show, {members:,} members", ("show", str(large))),
            ("report", ("report", str(large), "--force", "-o", str(page))),
            ("verify", ("verify", str(large))),
        ):
            seconds = [float("inf") for _ in trees]
            for _ in range(chosen.repetitions):
                for t, tree in enumerate(trees):
                    seconds[t] = min(seconds[t], cpu_seconds(tree, *command))
            row: dict[str, Value] = {"command": label, "seconds": seconds[0]}
            rows.append(row if len(trees) == 1 else row | {"before": seconds[1]})
    columns = [Column("command", "command"), Column("seconds", "CPU s", ".2f")]
    if len(trees) > 1:
        columns.append(Column("before", "the other checkout", ".2f"))
    show(
        "CPU time of commands",
        columns,
        rows,
        as_json=chosen.json,
        notes=(f"User and system time of the process, the least of {chosen.repetitions}.",),
    )


def cpu_seconds(tree: Path, *command: str) -> float:
    """Return the CPU seconds of a command as the program in ``tree`` runs it."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    # Python keeps bytecode, as for anyone who has run the program before.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", COMMAND, *command],
        cwd=tree,
        env=environment,
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_large_front(folder: Path, members: int) -> int:
    """Write a result folder with at most ``members`` members, of random design points. Return how
    many."""
    problem = dse.Problem(
        NETWORKS,
        PLATFORM,
        objectives=["energy", *(f"latency:{name}" for name in NETWORKS)],
        groups=2,
    )
    space = DesignSpace(problem.numeric)
    rows = np.unique(space.random(np.random.default_rng(0), ROWS_PER_MEMBER * members), axis=0)
    objectives = make_outcomes(problem.numeric)(rows).objectives
    kept = non_dominated(objectives)[:members]
    source = results_front.Provenance(
        version=VERSION,
        engine="random",
        seed=0,
        evaluations=len(rows),
        stopped_by="budget",
        seconds=0.0,
        inputs=(),
        platform=PLATFORM,
        precision="",
        command="",
        convergence=(),
        reference_point=tuple(map(float, objectives.max(axis=0) + 1)),
    )
    found = make_members(problem.numeric, rows[kept], objectives[kept])
    front = results_front.Front(problem.numeric, source, found)
    Front(front, problem.costs).save(folder, pictures=False)
    return len(found)


if __name__ == "__main__":
    main()
