"""Table 3 of MapFormer: how exactly each cost model predicts workloads that it never saw.

Usage: python -m examples.mapformer.table3 [--data FILE.npz] [--split-seed N] [--json]

All look at the same design points, those of workloads that the estimator which comes with the
program never saw (FILE is a data set in the output of ``dse papers learn``; that of the estimator
lies beside this file). MOSAIC and ODMDEF are fitted to the same training share. MapFormer's
estimator is there twice: with the short play of the mapping, a simulation of its first events that
no other model has, among its inputs, and trained without it. The last row is that short play by
itself, put into classes. As in the paper MOSAIC's and OmniBoost's scores are coefficients of
determination, ODMDEF's and MapFormer's shares of classes; both are printed for all that give
values.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from rich.table import Table

from examples.mapformer.published import ACCURACY_PERCENT
from examples.mapformer.workload_regression import (
    MosaicCostModel,
    OdmdefCostModel,
    workload_figures,
)
from examples.wide_console import wide_console
from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator
from paretosoc.dse.papers.estimator.predictor import Bins
from paretosoc.dse.papers.estimator.tokens import TokenMaker
from paretosoc.dse.papers.estimator.training.data_set import DataSet, load_data, problems_with_rows
from paretosoc.dse.papers.estimator.training.pipeline import head_accuracy, split_of
from paretosoc.dse.papers.managers.omniboost.network import Embedding
from paretosoc.dse.papers.managers.omniboost.omniboost import shipped_network
from paretosoc.dse.space.design_space import DesignSpace

DATA = Path(__file__).parent / "data.npz"
"""What the estimator that comes with the program was trained on."""
SPLIT_SEED = 1
STATIC = "MapFormer"
"""The estimator that, as the paper's, simulates nothing: on equal terms with the others."""
WITH_PLAY = "MapFormer + short play"
SHORT_PLAY = "short play alone"
"""What that estimator begins with, without the transformer: no model of the paper's."""


@dataclass(frozen=True)
class Score:
    """How exactly a model predicts a quantity, in percent."""

    exact: float
    near: float
    """At most one class off."""
    class_width: float
    """Typical width of a class, of its lower edge."""
    r2: float | None = None
    """None of a model that says classes."""


@dataclass(frozen=True)
class Scores:
    """How exactly a model predicts both."""

    throughput: Score
    power: Score | None = None


@dataclass(frozen=True, eq=False)
class Looked:
    """What the models look at and say, for all design points of a data set."""

    figures: FloatArray
    omniboost_hz: FloatArray
    learned: IntArray
    """[n, 2 estimators, 2]: classes of throughput and of power, with and without short play."""
    played: FloatArray
    """[n, 2]: the short play's Hz and W."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Computes and prints."""
    parser = argparse.ArgumentParser(description="Table 3 of MapFormer, predicted.")
    parser.add_argument("--data", type=Path, default=DATA, help="data set of dse papers learn")
    parser.add_argument(
        "--split-seed", type=int, default=SPLIT_SEED, help="given to dse papers learn"
    )
    parser.add_argument("--json", action="store_true", help="scores, for programs")
    options = parser.parse_args(arguments)
    try:
        data = load_data(options.data)
    except WorkloadError as error:
        parser.error(str(error))
    scores = compute(data, options.split_seed)
    if options.json:
        print(json.dumps({name: asdict(entry) for name, entry in scores.items()}, indent=2))
        return
    held_out = len(split_of(data, options.split_seed).held_out)
    wide_console().print(table(scores, held_out))


def compute(data: DataSet, split_seed: int) -> dict[str, Scores]:
    """Everybody's scores on the design points held out."""
    split = split_of(data, split_seed)
    training, held_out = split.training, split.held_out
    throughput, power = Bins.of(data.throughput_hz[training]), Bins.of(data.power_w[training])
    true_hz, true_w = data.throughput_hz[held_out], data.power_w[held_out]
    looked = look(data)
    mosaic = MosaicCostModel.fitted(
        looked.figures[training], data.throughput_hz[training], data.power_w[training]
    )
    hertz, watts = mosaic.predict(looked.figures[held_out])
    odmdef = OdmdefCostModel.fitted(
        looked.figures[training],
        data.throughput_hz[training],
        throughput.class_of(data.throughput_hz[training]),
    )
    said = odmdef.predict(looked.figures[held_out])
    scores = {
        "MOSAIC": Scores(
            value_score(throughput, hertz, true_hz), value_score(power, watts, true_w)
        ),
        "ODMDEF": Scores(class_score(throughput, said, true_hz)),
        "OmniBoost": Scores(value_score(throughput, looked.omniboost_hz[held_out], true_hz)),
    }
    for k, name in ((1, STATIC), (0, WITH_PLAY)):
        first, second = looked.learned[held_out, k].T
        scores[name] = Scores(
            class_score(throughput, first, true_hz), class_score(power, second, true_w)
        )
    hertz, watts = looked.played[held_out].T
    scores[SHORT_PLAY] = Scores(
        value_score(throughput, hertz, true_hz), value_score(power, watts, true_w)
    )
    return scores


def look(data: DataSet) -> Looked:
    """Builds every workload once and has all models look at its design points."""
    network = shipped_network(None)
    estimators = [shipped_estimator(short_play=short).predictor for short in (True, False)]
    parts: list[tuple[FloatArray, FloatArray, IntArray, FloatArray]] = []
    for problem, rows in problems_with_rows(data):
        said = [estimator.predict(problem, rows) for estimator in estimators]
        learned = [np.stack((one.throughput_class, one.power_class), axis=1) for one in said]
        embedded = Embedding(DesignSpace(problem)).of(rows)
        parts.append(
            (
                workload_figures(problem, rows),
                network.throughput_hz(embedded),
                np.stack(learned, axis=1),
                TokenMaker(problem)(rows).played,
            )
        )
    return Looked(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def class_score(bins: Bins, said: IntArray, true: FloatArray) -> Score:
    """Return the score of classes [n], if values [n] are true."""
    found = head_accuracy(bins, said, bins.class_of(true))
    return Score(100 * found.exact, 100 * found.within_one, 100 * found.typical_bin_width)


def value_score(bins: Bins, said: FloatArray, true: FloatArray) -> Score:
    """Return the score of values [n]."""
    return replace(class_score(bins, bins.class_of(said), true), r2=determination(said, true))


def determination(said: FloatArray, true: FloatArray) -> float:
    """Coefficient of determination, in percent; below 0 is worse than saying the mean."""
    rest = float(((said - true) ** 2).sum())
    return 100 * (1 - rest / float(((true - true.mean()) ** 2).sum()))


def table(scores: dict[str, Scores], held_out: int) -> Table:
    """Predicted beside published."""
    alone = scores[SHORT_PLAY]
    assert alone.power is not None
    grid = Table(
        title=f"Table 3: accuracy on {held_out} design points of held-out workloads, %",
        caption="One off: at most one class off. Classes are typically "
        f"{alone.throughput.class_width:.0f} % (throughput) and "
        f"{alone.power.class_width:.0f} % (power) wide.",
        title_justify="left",
        caption_justify="left",
    )
    grid.add_column("cost model")
    for quantity in ("throughput", "power"):
        for heading in ("exact", "one off", "R2", "published"):
            grid.add_column(f"{quantity}\n{heading}", justify="right")
    for name, entry in scores.items():
        cells: list[float | None] = []
        published = ACCURACY_PERCENT.get(name, (None, None))
        for score, beside in zip((entry.throughput, entry.power), published, strict=True):
            cells += (score.exact, score.near, score.r2) if score else (None, None, None)
            cells.append(beside)
        grid.add_row(name, *("" if value is None else f"{value:.1f}" for value in cells))
    return grid


if __name__ == "__main__":
    main()
