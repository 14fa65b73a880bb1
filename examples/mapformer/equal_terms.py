"""MapFormer's tree search and our explorer on equal terms: the same predictor, as many questions.

Usage: python -m examples.mapformer.equal_terms [--json] [--mixes N]

On mixes of Fig. 7 under 15 W both begin with random rows and ask the same predictor for as many
rows; then the timeline judges one answer of each. The predictors are MapFormer's estimator, the
same trained without short play, and the timeline itself. So a row of a table tells the searches
apart, and a column the predictors.

In the first table each seeks its own goal: MapFormer the largest value of Eq. 1 in mode PB, ours
the most inferences per joule, which is what the table compares. In the second table both seek the
largest value of Eq. 1 in mode PB, and it compares that value, with the classes of the estimator.
All keep the cap, as far as the predictor tells.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.mapformer.contenders import (
    MAPFORMER,
    OURS,
    Answer,
    mapformer,
    ours_by_value,
    ours_predicted,
)
from examples.mapformer.figure_options import figure_options
from examples.mapformer.mixes import CAPS_W, SIZES, Mix, mixes, problem_of
from examples.wide_console import wide_console
from paretosoc.common.arrays import IntArray
from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator
from paretosoc.dse.papers.estimator.predictor import (
    Bins,
    Prediction,
    Predictor,
    PredictorName,
    TimelinePredictor,
    make_predictor,
)
from paretosoc.dse.papers.managers.mapformer.la_mcts import DEFAULT_MODE, tie_break, value_of
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.fitness.warm_up import warm_up
from paretosoc.results.problem.problem import Problem

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
    """Answers on a mix."""

    mix: Mix
    tree: Answer
    ours: Answer
    ours_by_value: Answer
    """The answer of our search for MapFormer's goal."""
    predictions: int
    """Rows that each of them asked for."""


Results = dict[PredictorName, list[Pair]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Computes and prints."""
    title = "MapFormer's search and ours on one predictor."
    options = figure_options(title, arguments, mixes=MIXES, drawn=False)
    results = compute(options.mixes, Console(stderr=True, highlight=False))
    if options.as_json:
        entries = {name.value: [asdict(pair) for pair in pairs] for name, pairs in results.items()}
        print(json.dumps(entries, indent=2))
        return
    console = wide_console()
    console.print(table(results))
    console.print(value_table(results))


def compute(count: int, progress: Console) -> Results:
    """Both searches with every predictor on every mix."""
    warm_up()
    known: dict[Hashable, NetworkTables] = {}
    results: Results = {name: [] for name in PredictorName}
    for size in SIZES:
        for mix in mixes(size, CAP_W, count):
            problem = problem_of(mix, known)
            for name in PredictorName:
                results[name].append(pair_of(mix, problem, _predictor(name)))
            progress.print(f"{size} networks: {mix.number + 1} of {count} mixes", end="\r")
    progress.print()
    return results


def _predictor(name: PredictorName) -> Predictor:
    """The predictor of that name, with the classes of the estimator also where it simulates."""
    if name is PredictorName.TIMELINE:
        return TimelinePredictor(*classes())
    return make_predictor(name)


def classes() -> tuple[Bins, Bins]:
    """Return the estimator's classes of throughput and power."""
    settings = shipped_estimator().settings
    return settings.throughput, settings.power


def pair_of(mix: Mix, problem: Problem, predictor: Predictor) -> Pair:
    """Both searches on a mix; ours may ask for as many rows as MapFormer's did."""
    counted = Counted(predictor)
    tree = mapformer(problem, mix.number, DEFAULT_MODE, counted)
    rows = counted.rows
    mine = ours_predicted(problem, mix.number, predictor, rows)
    by_value = ours_by_value(problem, mix.number, predictor, rows, DEFAULT_MODE)
    return Pair(mix, tree, mine, by_value, rows)


def table(results: Results) -> Table:
    """A row for each predictor."""
    mixes_each = len(results[PredictorName.LEARNED])
    grid = Table(
        title=f"Equal terms: one predictor, as many rows asked for, {mixes_each} mixes",
        caption=f"Different goals: {MAPFORMER} seeks Eq. 1 in mode {DEFAULT_MODE.value}, {OURS} "
        "inferences per joule.",
        title_justify="left",
        caption_justify="left",
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


def value_table(results: Results) -> Table:
    """A row for each predictor; both searches seek Eq. 1."""
    throughput, power = classes()

    def scores(answers: Sequence[Answer]) -> list[tuple[bool, float, float]]:
        """Keeping the cap comes first, then the value of Eq. 1, then what breaks its ties."""
        hertz = np.array([answer.throughput_hz for answer in answers])
        watts = np.array([answer.power_w for answer in answers])
        judged = Prediction(hertz, watts, throughput.class_of(hertz), power.class_of(watts))
        kept = [answer.within_cap for answer in answers]
        columns = (value_of(DEFAULT_MODE, judged), tie_break(DEFAULT_MODE, judged))
        return list(zip(kept, *(column.tolist() for column in columns), strict=True))

    grid = Table(
        title=f"The same goal: the most of Eq. 1 in mode {DEFAULT_MODE.value}",
        title_justify="left",
    )
    grid.add_column("predictor")
    for searcher in (MAPFORMER, OURS):
        for heading in ("Eq. 1", "mean\n1/s", "W", "above\nthe cap"):
            title = f"{searcher}\n{heading}" if heading == "Eq. 1" else heading
            grid.add_column(title, justify="right")
    grid.add_column(f"{OURS}\nahead", justify="right")
    for name, pairs in results.items():
        cells, by_search = [], []
        for answers in ([pair.tree for pair in pairs], [pair.ours_by_value for pair in pairs]):
            by_search.append(scores(answers))
            cells += [
                f"{mean(value for _, value, _ in by_search[-1]):.2f}",
                f"{mean(answer.throughput_hz for answer in answers):.1f}",
                f"{mean(answer.power_w for answer in answers):.2f}",
                str(sum(not answer.within_cap for answer in answers)),
            ]
        ahead = sum(ours > tree for tree, ours in zip(*by_search, strict=True))
        grid.add_row(name.value, *cells, f"{ahead} of {len(pairs)}")
    return grid


if __name__ == "__main__":
    main()
