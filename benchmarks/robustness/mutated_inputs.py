"""Change files of every format at random, and have the program read them.

    python -m benchmarks.robustness.mutated_inputs --count 6000

Each changed file is read by a command in a process of its own, with limits of 20 CPU-s and 2 GB.
Prints a line per finding: a traceback, an internal error, a process that was ended by a limit,
control characters, or words of a library instead of ours. Then it prints the number of cases, of
refusals and of findings per format, and the longest CPU time. Exit status 1: there are findings.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.robustness.confined import Ended, complaint, confined
from benchmarks.robustness.inputs import GROUPS, Sound
from paretosoc.dse.cli.main import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, run the cases, print the findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=6000, help="number of changed files")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--group", choices=GROUPS, action="append", help="formats; default: all")
    parser.add_argument("--format", action="append", help="one format of these; repeatable")
    parser.add_argument("--keep", type=Path, help="folder for the files that were findings")
    given = parser.parse_args(arguments)
    # Children run one thread each, and inherit the modules that are loaded here.
    os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "made").mkdir()
        inputs: dict[str, Sound] = {}
        for group in given.group or GROUPS:
            inputs |= GROUPS[group](scratch / "made")
        names = given.format or list(inputs)
        findings = _try_all(
            {name: inputs[name] for name in names}, scratch, given.count, given.seed, given.keep
        )
    return 1 if findings else 0


def _try_all(
    inputs: dict[str, Sound], scratch: Path, count: int, seed: int, keep: Path | None
) -> int:
    cases: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    longest: Counter[str] = Counter()
    refused: list[str] = []
    tried = set()
    for name, sound in inputs.items():
        # Files of one result folder have all the others beside them.
        folder = frozenset({**sound.beside, sound.file: sound.data}.items())
        for command in sound.commands:
            if (folder, command) not in tried:
                tried.add((folder, command))
                # Here, and not in a child, so that all children have the imported and compiled
                # code.
                with redirect_stdout(io.StringIO()):
                    status = run(_put(sound, sound.data, command, scratch))
                if status:
                    refused.append(f"{name}: {' '.join(command)}")
    if refused:
        raise SystemExit("\n".join(["sound files are refused:", *refused]))
    names = list(inputs)
    for number in range(count):
        if number % 500 == 499:
            print(f"{number + 1} cases, {findings.total()} findings", flush=True)
        name = names[number % len(names)]
        sound, rng = inputs[name], random.Random(f"{seed} {name} {number}")
        command = rng.choice(sound.commands)
        ended = _try_one(sound, sound.change(sound.data, rng), command, scratch)
        cases[name] += 1
        refusals[name] += ended.status != 0
        longest[name] = max(longest[name], round(1000 * ended.cpu_s))
        wrong = complaint(ended)
        if wrong is not None:
            findings[name] += 1
            print(f"{name} {number}: {' '.join(command[:3])}: {wrong}", flush=True)
            if keep is not None:
                shutil.copytree(scratch / "case", keep / f"{name}-{number}", symlinks=True)
    print(f"{'format':28} {'cases':>6} {'refused':>8} {'findings':>9} {'longest CPU s':>14}")
    for name in names:
        figures = f"{cases[name]:6} {refusals[name]:8} {findings[name]:9}"
        print(f"{name:28} {figures} {longest[name] / 1000:14.2f}")
    totals = f"{cases.total():6} {refusals.total():8} {findings.total():9}"
    print(f"{'all':28} {totals} {max(longest.values(), default=0) / 1000:14.2f}")
    return findings.total()


def _try_one(sound: Sound, data: bytes, command: Sequence[str], scratch: Path) -> Ended:
    """Write the file into an empty folder and run the command in a child."""
    return confined(_put(sound, data, command, scratch), scratch)


def _put(sound: Sound, data: bytes, command: Sequence[str], scratch: Path) -> list[str]:
    """Write the file into an empty folder. Return the arguments of the command."""
    case, folder = scratch / "case", scratch / "case" / "in"
    shutil.rmtree(case, ignore_errors=True)
    sound.put(folder, data)
    if data != sound.data:
        sound.finish(folder)
    file = str(folder / sound.file)
    return [part.replace("{}", file).replace("{dir}", str(folder)) for part in command]


if __name__ == "__main__":
    sys.exit(main())
