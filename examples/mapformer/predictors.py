"""What MapFormer's tree search answers with its estimator, and what with the timeline in its place.

Usage: python -m examples.mapformer.predictors [--mixes N]

Efficiency and throughput of both answers, as the timeline judges them, on mixes of Fig. 7, and the
seconds of the processor that they took.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Hashable, Sequence

from rich.table import Table

from dse.papers.managers.mapformer.settings import PredictorName
from dse.problem.build import NetworkTables
from examples.mapformer.contenders import mapformer
from examples.mapformer.mixes import mixes, problem_of
from examples.mapformer.wide_console import wide_console
from fitness.warm_up import warm_up

KINDS = ((10, 15), (6, 15), (8, 10), (6, 30))
"""Networks and power caps."""
MIXES = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Computes and prints."""
    parser = argparse.ArgumentParser(description="MapFormer with the timeline as its estimator.")
    parser.add_argument("--mixes", type=int, default=MIXES, help="of each kind")
    options = parser.parse_args(arguments)
    warm_up()
    known: dict[Hashable, NetworkTables] = {}
    grid = Table(title="Inferences per joule, mean throughput, seconds", title_justify="left")
    for heading in ("networks", "cap, W"):
        grid.add_column(heading, justify="right")
    for name in PredictorName:
        for heading in ("1/J", "1/s", "CPU s"):
            grid.add_column(f"{name.value}\n{heading}", justify="right")
    ahead = dict.fromkeys(PredictorName, 0)
    for size, cap in KINDS:
        for mix in mixes(size, cap, options.mixes):
            problem = problem_of(mix, known)
            cells, efficiency = [str(size), str(cap)], {}
            for name in PredictorName:
                began = time.process_time()
                answer = mapformer(problem, mix.number, predictor=name)
                efficiency[name] = answer.efficiency_per_j
                cells += [
                    f"{answer.efficiency_per_j:.2f}",
                    f"{answer.throughput_hz:.2f}",
                    f"{time.process_time() - began:.1f}",
                ]
            for name in PredictorName:
                others = [value for other, value in efficiency.items() if other is not name]
                ahead[name] += efficiency[name] > max(others)
            grid.add_row(*cells)
    console = wide_console()
    console.print(grid)
    counts = ", ".join(f"{count} {name.value}" for name, count in ahead.items())
    console.print(f"More efficient answers: {counts}", soft_wrap=True)


if __name__ == "__main__":
    main()
