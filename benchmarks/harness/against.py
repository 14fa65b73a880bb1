"""The kernels of another commit, measured in turn with today's; for ``benchmarks.timeline``."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.report import Column

ROOT = Path(__file__).parents[2]
TURNS = 8

# Runs in both trees, on names that `benchmarks.timeline` has in both. Reads a case and a number of
# repetitions from each line, and prints the shortest time.
CHILD = """
import sys, time, zlib
import benchmarks.timeline as timeline

CASES = []
for name, problem, count in (
    ("2 networks, 20 groups", timeline.small(), 500),
    ("10 networks, 1,000 groups; chains", timeline.large(graphs=False), 64),
    ("10 networks, 1,000 groups; also graphs", timeline.large(graphs=True), 64),
):
    rows = timeline.random_rows(problem, count)
    for kernel in timeline.Kernel:
        if kernel.name == "TWO_CHAINS" and len(problem.networks) > 2:
            continue
        if kernel.name != "GENERAL" and "graphs" in name:
            continue
        evaluate = timeline.make_evaluator(problem, kernel=kernel)
        digest = zlib.crc32(evaluate(rows).makespan_ps.tobytes())
        CASES.append((f"{name}; {kernel.name.lower()}", count, digest, evaluate, rows))
print([case[:3] for case in CASES], flush=True)
for line in sys.stdin:
    index, repetitions = map(int, line.split())
    evaluate, rows = CASES[index][3:]
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        evaluate(rows)
        best = min(best, time.perf_counter() - start)
    print(best, flush=True)
"""


@dataclass(frozen=True)
class Ratio:
    """Design points per second of one kernel on one problem, then and now."""

    kernel: str
    then_per_second: float
    now_per_second: float
    ratio: float


COLUMNS = (
    Column("kernel", "problem; kernel"),
    Column("then_per_second", "then /s", ",.0f"),
    Column("now_per_second", "now /s", ",.0f"),
    Column("ratio", "now / then", ".3f"),
)


def ratios_against(commit: str) -> list[Ratio]:
    """The speeds of a commit's kernels and of today's, the shortest of many turns each.

    Raises:
        AssertionError: where they differ in a makespan.
        CalledProcessError: where git knows no such commit.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tree = Path(folder) / "then"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        stack.callback(_git, "worktree", "remove", "--force", str(tree))
        processes = [stack.enter_context(_child(path)) for path in (tree, ROOT)]
        cases = [ast.literal_eval(_line(process)) for process in processes]
        if cases[0] != cases[1]:
            raise AssertionError(f"{commit} gives other makespans: {cases[0]}, now {cases[1]}")
        best = [[float("inf")] * 2 for _ in cases[0]]
        for _ in range(TURNS):
            for index, (_, count, _) in enumerate(cases[0]):
                for which, process in enumerate(processes):
                    assert process.stdin is not None
                    process.stdin.write(f"{index} {200 if count > 100 else 20}\n")
                    process.stdin.flush()
                    best[index][which] = min(best[index][which], float(_line(process)))
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
    return [
        Ratio(name, count / then, count / now, then / now)
        for (name, count, _), (then, now) in zip(cases[0], best, strict=True)
    ]


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.DEVNULL)


def _child(tree: Path) -> subprocess.Popen[str]:
    """Compiles first, where it must."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=tree,
        env={"PYTHONPATH": str(tree), "PATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a measuring process ended with status {process.wait()}")
    return line
