"""Another commit measured in turn with today's: kernels for ``benchmarks.timeline``, and whole
benchmarks."""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.report import Column, Value, show

ROOT = Path(__file__).parents[2]
TURNS = 8
BENCHMARK_TURNS = 2

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
    for which, kernel in (("fastest", None), ("general", timeline.Kernel.GENERAL)):
        if kernel is None and "graphs" in name:
            continue
        evaluate = timeline.make_evaluator(problem, kernel=kernel)
        digest = zlib.crc32(evaluate(rows).makespan_ps.tobytes())
        CASES.append((f"{name}; {which}", count, digest, evaluate, rows))
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
CHANGES = (
    Column("row", "row"),
    Column("figure", "figure"),
    Column("then", "then", ",.3f"),
    Column("now", "now", ",.3f"),
    Column("ratio", "now / then", ".3f"),
)


def ratios_against(commit: str) -> list[Ratio]:
    """Return the speeds of a commit's kernels and of today's, the shortest of many turns each.

    Raises:
        AssertionError: if they differ in a makespan.
        CalledProcessError: if git knows no such commit.
    """
    with _tree_of(commit) as tree, ExitStack() as stack:
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


def shown_against(
    module: str,
    names: Sequence[str],
    figures: Sequence[Column],
    arguments: Sequence[str] | None,
) -> bool:
    """Compare a benchmark with another commit if ``--against COMMIT`` is among the arguments.

    Runs the benchmark at that commit and now, in turn, and prints the smallest value of each
    figure. Returns whether it did.

    Args:
        module: the benchmark. It has ``--json`` at both commits.
        names: keys that a row is told apart by.
        figures: columns to compare, for which smaller is better.
        arguments: of the command line. None: this process's. Others are passed on.

    Raises:
        CalledProcessError: if git knows no such commit, or a benchmark ends with an error.
    """
    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_option(options)
    options.add_argument("--json", action="store_true")
    chosen, others = options.parse_known_args(arguments)
    if chosen.against is None:
        return False
    with _tree_of(chosen.against) as tree:
        runs = [
            (_rows(tree, module, names, others), _rows(ROOT, module, names, others))
            for _ in range(BENCHMARK_TURNS)
        ]
    rows: list[dict[str, Value]] = []
    for name in runs[0][1]:
        for figure in figures:
            then, now = (
                min(
                    (run[which][name][figure.key] for run in runs if name in run[which]),
                    key=lambda value: float("inf") if value is None else value,
                    default=None,
                )
                for which in (0, 1)
            )
            ratio = now / then if now and then else None
            rows.append(
                {"row": name, "figure": figure.title, "then": then, "now": now, "ratio": ratio}
            )
    show(f"{module} at {chosen.against} and now", CHANGES, rows, as_json=chosen.json)
    return True


def add_option(options: argparse.ArgumentParser) -> None:
    """Add ``--against COMMIT``."""
    options.add_argument("--against", metavar="COMMIT", help="measure that commit as well, in turn")


def _rows(
    tree: Path, module: str, names: Sequence[str], arguments: Sequence[str]
) -> dict[str, Mapping[str, float | None]]:
    """Return the rows that the benchmark prints, by their names."""
    output = subprocess.run(
        [sys.executable, "-m", module, "--json", *arguments],
        cwd=tree,
        env=_environment(tree),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return {"; ".join(str(row[key]) for key in names): row for row in json.loads(output)["rows"]}


@contextmanager
def _tree_of(commit: str) -> Iterator[Path]:
    """Provide a work tree of the commit while the block runs."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "then"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _environment(tree: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(tree), "PATH": ""}


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.DEVNULL)


def _child(tree: Path) -> subprocess.Popen[str]:
    """Start a process that compiles first if it must."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=tree,
        env=_environment(tree),
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
