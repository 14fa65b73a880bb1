"""Table 8 of HaX-CoNN: all 55 pairs of ten networks on Orin 32 GB, faster ones repeated to match.

Usage: python -m examples.hax.table8 [--json]

Best baseline and gain of each pair, predicted and published; every optimum is certified, or the
summary says what it is.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from statistics import mean

from rich.table import Table
from scipy.stats import spearmanr

from examples.hax.prediction import Prediction, built_workload, json_wanted, predict
from examples.hax.published import PLATFORMS, Pair, pairs
from examples.wide_console import wide_console
from paretosoc.dse.workload.workload import workload_of

SHORT = {
    "gpu-only": "GPU",
    "gpu-and-dsa": "G&D",
    "mensa": "Mensa",
    "herald": "Her.",
    "h2h": "H2H",
    "axonn": "AxoNN",
}
COMPARED = ("gpu-only", "gpu-and-dsa", "herald", "h2h")
"""The paper has no AxoNN, and Mensa for single networks only."""
NO_GAIN = 0.005
"""Below half a percent a gain is none: the paper prints whole percent."""

Result = tuple[Pair, Prediction]


def main() -> None:
    """Computes and prints."""
    as_json = json_wanted("Table 8 of HaX-CoNN, predicted beside published.")
    began = time.monotonic()
    results = [(pair, predicted(pair)) for pair in pairs()]
    seconds = time.monotonic() - began
    if as_json:
        print(json.dumps(document(results), indent=2))
        return
    console = wide_console()
    console.print(table(results))
    for line in summary(results):
        console.print(line)
    console.print(f"{len(results)} pairs in {seconds:.0f} s")


def predicted(pair: Pair) -> Prediction:
    """One cell: the faster network repeated, makespan, all methods."""
    workload = workload_of(list(pair.networks))
    return predict(built_workload(workload, PLATFORMS["orin"], balance=True), PLATFORMS["orin"])


def best_of_published_kind(prediction: Prediction) -> str:
    """The best baseline of those that the paper compares pairs with."""
    return min(COMPARED, key=lambda method: prediction.ms[method])


def gain(prediction: Prediction) -> float:
    """Of the optimum over that baseline."""
    return prediction.ms[best_of_published_kind(prediction)] / prediction.ms["optimum"] - 1


def table(results: Sequence[Result]) -> Table:
    """The lower triangle: best baseline and gain in percent, predicted / published."""
    names = list(dict.fromkeys(pair.networks[0] for pair, _ in results))
    cells = {pair.networks: (pair, prediction) for pair, prediction in results}
    grid = Table(
        title="Table 8: best baseline and gain in %, predicted / published", title_justify="left"
    )
    grid.add_column("")
    for number in range(1, len(names) + 1):
        grid.add_column(str(number))
    for number, row in enumerate(names, 1):
        texts = []
        for column in names[:number]:
            pair, prediction = cells[row, column]
            texts.append(
                f"{SHORT[best_of_published_kind(prediction)]}/{SHORT[pair.best_baseline]}\n"
                f"{100 * gain(prediction):.0f}/{100 * pair.gain:.0f}"
            )
        grid.add_row(f"{number} {row}", *texts)
    return grid


def figures(results: Sequence[Result]) -> dict[str, object]:
    """What the comparison comes to."""
    own = [gain(prediction) for _, prediction in results]
    published = [pair.gain for pair, _ in results]
    return {
        "pairs": len(results),
        "status": dict(Counter(prediction.status for _, prediction in results)),
        "best_baseline_reproduced": sum(
            best_of_published_kind(prediction) == pair.best_baseline for pair, prediction in results
        ),
        "naive_best_reproduced": sum(
            (best_of_published_kind(prediction) in ("gpu-only", "gpu-and-dsa"))
            == (pair.best_baseline in ("gpu-only", "gpu-and-dsa"))
            for pair, prediction in results
        ),
        "gain_above_0_predicted": sum(value >= NO_GAIN for value in own),
        "gain_above_0_published": sum(value >= NO_GAIN for value in published),
        "gain_above_0_reproduced": sum(
            (a >= NO_GAIN) == (b >= NO_GAIN) for a, b in zip(own, published, strict=True)
        ),
        "mean_gain_predicted": mean(own),
        "mean_gain_published": mean(published),
        "rank_correlation_of_gains": float(spearmanr(own, published).statistic),
        "best_baselines_predicted": dict(
            Counter(best_of_published_kind(prediction) for _, prediction in results)
        ),
        "best_baselines_published": dict(Counter(pair.best_baseline for pair, _ in results)),
    }


def summary(results: Sequence[Result]) -> list[str]:
    """Sentences with the numbers."""
    values = figures(results)

    def counts(key: str) -> str:
        entries = values[key]
        assert isinstance(entries, dict)
        return ", ".join(f"{SHORT.get(name, name)} {count}" for name, count in entries.items())

    return [
        f"Optima: {counts('status')}",
        f"Best baseline as published: {values['best_baseline_reproduced']} of {values['pairs']} "
        f"(predicted: {counts('best_baselines_predicted')}; published: "
        f"{counts('best_baselines_published')})",
        f"Gain above 0 or not as published: {values['gain_above_0_reproduced']} of "
        f"{values['pairs']} (predicted above 0: {values['gain_above_0_predicted']}, published: "
        f"{values['gain_above_0_published']})",
        f"Mean gain: {100 * float(str(values['mean_gain_predicted'])):.1f} % predicted, "
        f"{100 * float(str(values['mean_gain_published'])):.1f} % published; rank correlation of "
        f"the gains (Spearman): {values['rank_correlation_of_gains']:.3f}",
    ]


def document(results: Sequence[Result]) -> dict[str, object]:
    """All of it as plain data."""
    return {
        "cells": [
            {
                "networks": list(pair.networks),
                "repeats": [network.repeats for network in prediction.comparison.problem.networks],
                "published": {"best_baseline": pair.best_baseline, "gain": pair.gain},
                "predicted": {
                    "best_baseline": best_of_published_kind(prediction),
                    "gain": gain(prediction),
                    "ms": prediction.ms,
                    "status": prediction.status,
                },
            }
            for pair, prediction in results
        ],
        **figures(results),
    }


if __name__ == "__main__":
    main()
