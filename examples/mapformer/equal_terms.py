"""MapFormer's tree search and our explorer on equal terms: the same predictor, as many questions.

Usage: python -m examples.mapformer.equal_terms [--json] [--mixes N]

On mixes of Fig. 7 under 15 W both begin with random rows and ask the same predictor for as many
rows; then the timeline judges one answer of each. The predictors are MapFormer's estimator, the
same trained without short play, and the timeline itself. So a row of the table tells the searches
apart, and a column the predictors. Each looks for its own goal: MapFormer for the most of Eq. 1 in
mode PB, ours for the most inferences per joule, both within the cap.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean

from rich.console import Console
from rich.table import Table

from common.arrays import IntArray
from dse.papers.estimator.predictor import Prediction, Predictor
from dse.papers.managers.mapformer.predictors import make_predictor
from dse.papers.managers.mapformer.settings import PredictorName
from dse.problem.network_tables import NetworkTables
from examples.mapformer.contenders import MAPFORMER, OURS, Answer, mapformer, ours_predicted
from examples.mapformer.figure_options import mix_count
from examples.mapformer.mixes import CAPS_W, SIZES, Mix, mixes, problem_of
from examples.mapformer.wide_console import wide_console
from fitness.warm_up import warm_up
from results.problem.problem import Problem

MIXES = 3
"""Of each size: the timeline as a predictor takes long."""
CAP_W = CAPS_W[1]


class Counted:
    """A predictor, and how many rows it was asked for."""

    def __init__(self, inner: Predictor) -> None:
        self._inner = inner
        self.name = inner.name
        self.rows = 0

    def predict(self, problem: Problem, rows: IntArray) -> Prediction:
        """What the inner one says."""
        self.rows += len(rows)
        return self._inner.predict(problem, rows)


@dataclass(frozen=True)
class Pair:
    """Both answers on a mix."""

    mix: Mix
    tree: Answer
    ours: Answer
    predictions: int
    """Rows that each of them asked for."""


Results = dict[PredictorName, list[Pair]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Computes and prints."""
    parser = argparse.ArgumentParser(description="MapFormer's search and ours on one predictor.")
    parser.add_argument("--json", action="store_true", help="all answers, for programs")
    parser.add_argument("--mixes", type=mix_count, default=MIXES, help="mixes of each kind")
    options = parser.parse_args(arguments)
    results = compute(options.mixes, Console(stderr=True, highlight=False))
    if options.json:
        entries = {name.value: [asdict(pair) for pair in pairs] for name, pairs in results.items()}
        print(json.dumps(entries, indent=2))
        return
    wide_console().print(table(results))


def compute(count: int, progress: Console) -> Results:
    """Both searches with every predictor on every mix."""
    warm_up()
    known: dict[Hashable, NetworkTables] = {}
    results: Results = {name: [] for name in PredictorName}
    for size in SIZES:
        for mix in mixes(size, CAP_W, count):
            problem = problem_of(mix, known)
            for name in PredictorName:
                results[name].append(pair_of(mix, problem, make_predictor(name)))
            progress.print(f"{size} networks: {mix.number + 1} of {count} mixes", end="\r")
    progress.print()
    return results


def pair_of(mix: Mix, problem: Problem, predictor: Predictor) -> Pair:
    """Both searches on a mix; ours may ask for as many rows as MapFormer's did."""
    pluralize = Counted(predictor)
    tree = mapformer(problem, mix.number, predictor=pluralize)
    mine = ours_predicted(problem, mix.number, predictor, pluralize.rows)
    return Pair(mix, tree, mine, pluralize.rows)


def table(results: Results) -> Table:
    """A row for each predictor."""
    mixes_each = len(results[PredictorName.LEARNED])
    grid = Table(
        title=f"Equal terms: one predictor, as many rows asked for, {mixes_each} mixes",
        title_justify="left",
    )
    grid.add_column("predictor")
    grid.add_column("rows\neach", justify="right")
    for searcher in (MAPFORMER, OURS):
        grid.add_column(f"{searcher}\n1/J", justify="right")
        grid.add_column("mean\n1/s", justify="right")
        grid.add_column("above\nthe cap", justify="right")
        grid.add_column("seconds", justify="right")
    grid.add_column(f"{OURS}\nahead", justify="right")
    for name, pairs in results.items():
        cells = []
        for answers in ([pair.tree for pair in pairs], [pair.ours for pair in pairs]):
            cells += [
                f"{mean(answer.efficiency_per_j for answer in answers):.2f}",
                f"{mean(answer.throughput_hz for answer in answers):.1f}",
                str(sum(not answer.within_cap for answer in answers)),
                f"{mean(answer.seconds for answer in answers):.1f}",
            ]
        ahead = sum(pair.ours.efficiency_per_j > pair.tree.efficiency_per_j for pair in pairs)
        rows = mean(pair.predictions for pair in pairs)
        grid.add_row(name.value, f"{rows:.0f}", *cells, f"{ahead} of {len(pairs)}")
    return grid


if __name__ == "__main__":
    main()
