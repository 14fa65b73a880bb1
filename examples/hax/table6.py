"""Table 6 of HaX-CoNN: ten experiments, five methods, predicted beside published.

Usage: python -m examples.hax.table6 [--json | --markdown]

Predictions rest on networks alone on a unit (Tables 2 and 5), not on anything in Table 6.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from statistics import mean, median

from rich.table import Table
from scipy.stats import spearmanr

from examples.hax.prediction import Prediction, built_workload, predict, scenario_workload
from examples.hax.published import METHODS, PLATFORMS, Experiment, experiments, standalone_ms
from examples.wide_console import wide_console

CALIBRATED = (1, 2, 4, 6, 8)
"""Experiments all of whose networks have a time alone on each unit used."""
LABELS = dict(zip(METHODS, ("GPU only", "GPU & DSA", "Herald", "H2H", "optimum"), strict=True))
REMARKS = {
    3: "AlexNet has no time alone in Table 5: estimated",
    5: "FCN-ResNet18 has no time alone in Table 5: estimated",
    9: "no network was measured on this board: all estimated",
    10: "no network was measured on this board: all estimated",
}

Result = tuple[Experiment, Prediction, Prediction]
"""An experiment, its prediction, and the one without contention."""


def main() -> None:
    """Computes and prints."""
    parser = argparse.ArgumentParser(description="Table 6 of HaX-CoNN, predicted beside published.")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for programs")
    form.add_argument(
        "--markdown", action="store_true", help="print the tables of docs/papers/hax_conn.md"
    )
    wanted = parser.parse_args()
    results = predicted(experiments())
    if wanted.json or wanted.markdown:
        print(json.dumps(document(results), indent=2) if wanted.json else markdown(results))
        return
    console = wide_console()
    console.print(table(results))
    for line in summary(results):
        console.print(line)


def predicted(rows: Sequence[Experiment]) -> list[Result]:
    """Every experiment with contention and without."""
    results = []
    for experiment in rows:
        workload, objective = scenario_workload(experiment.networks, experiment.scenario)
        built = built_workload(workload, experiment.platform, objective=objective)
        results.append(
            (
                experiment,
                predict(built, experiment.platform),
                predict(built, experiment.platform, contention=False),
            )
        )
    return results


def error(experiment: Experiment, prediction: Prediction, method: str) -> float:
    """Signed, as a share of what was published."""
    return prediction.ms[method] / experiment.published_ms[method] - 1


def table(results: Sequence[Result]) -> Table:
    """Predicted / published ms and the error, per method."""
    grid = Table(title="Table 6: predicted / published ms (error %)", title_justify="left")
    grid.add_column("#", justify="right")
    grid.add_column("networks")
    for method in METHODS:
        grid.add_column(LABELS[method], justify="right")
    grid.add_column("best baseline")
    grid.add_column("gain %", justify="right")
    for experiment, prediction, _ in results:
        published = experiment.published_ms
        best, gain = published_best(experiment)
        grid.add_row(
            str(experiment.number),
            f"{experiment.title} on {experiment.platform}",
            *(
                f"{prediction.ms[method]:.2f} / {published[method]:.2f} "
                f"({100 * error(experiment, prediction, method):+.0f})"
                for method in METHODS
            ),
            f"{LABELS[own_best(prediction)]} / {LABELS[best]}",
            f"{100 * own_gain(prediction):.0f} / {100 * gain:.0f} ({prediction.status})",
        )
    return grid


def markdown(results: Sequence[Result]) -> str:
    """The tables of docs/papers/hax_conn.md: predicted (published) ms, and median errors in %."""
    methods = " | ".join(LABELS[method] for method in METHODS)
    rules = "|---" * len(METHODS) + "|"
    lines = [f"| # | workload | {methods} |", f"|---|---{rules}"]
    lines += [markdown_row(experiment, prediction) for experiment, prediction, _ in results]
    lines += ["", f"| | {methods} |", f"|---{rules}"]
    errors = figures(results)["median_error"]
    assert isinstance(errors, dict)
    for name, of_method in errors.items():
        cells = " | ".join(f"{100 * of_method[method]:.1f}" for method in METHODS)
        lines.append(f"| {name.replace('_', ' ')} | {cells} |")
    return "\n".join(lines)


def markdown_row(experiment: Experiment, prediction: Prediction) -> str:
    """``| 1 | vgg19 + resnet152, jetson-agx-xavier | 13.65 (17.05) | ... |``."""
    cells = " | ".join(
        f"{prediction.ms[method]:.2f} ({experiment.published_ms[method]:.2f})" for method in METHODS
    )
    return f"| {experiment.number} | {experiment.title}, {experiment.platform} | {cells} |"


def published_best(experiment: Experiment) -> tuple[str, float]:
    """The best published baseline, and HaX-CoNN's gain over it."""
    best = min(METHODS[:-1], key=lambda method: experiment.published_ms[method])
    return best, experiment.published_ms[best] / experiment.published_ms["optimum"] - 1


def own_best(prediction: Prediction) -> str:
    """The best predicted baseline of those that Table 6 has."""
    return min(METHODS[:-1], key=lambda method: prediction.ms[method])


def own_gain(prediction: Prediction) -> float:
    """The predicted gain over the best baseline of those that Table 6 has."""
    return prediction.ms[own_best(prediction)] / prediction.ms["optimum"] - 1


def figures(results: Sequence[Result]) -> dict[str, object]:
    """What the comparison comes to."""
    calibrated = [result for result in results if result[0].number in CALIBRATED]
    errors = {
        name: {
            method: median(
                abs(error(experiment, row[which], method)) for experiment, *row in calibrated
            )
            for method in METHODS
        }
        for which, name in enumerate(("with_contention", "without_contention"))
    }
    points = [
        (prediction.ms[method], experiment.published_ms[method])
        for experiment, prediction, _ in results
        for method in METHODS
    ]
    within = [
        spearmanr(
            [prediction.ms[method] for method in METHODS],
            [experiment.published_ms[method] for method in METHODS],
        ).statistic
        for experiment, prediction, _ in results
    ]
    return {
        "median_error": errors,
        "rank_correlation": float(spearmanr(*zip(*points, strict=True)).statistic),
        "rank_correlation_within": float(mean(within)),
        "best_baseline_reproduced": sum(
            own_best(prediction) == published_best(experiment)[0]
            for experiment, prediction, _ in results
        ),
        "gain_above_0_reproduced": sum(
            (own_gain(prediction) >= 0.005) == (published_best(experiment)[1] >= 0.005)
            for experiment, prediction, _ in results
        ),
        "experiments": len(results),
    }


def gpu_above_alone(rows: Sequence[Experiment]) -> dict[int, float]:
    """By how much GPU only, as published, passes the sum of the published times alone, as a share;
    of experiments on boards and with networks that Table 5 has."""
    tables = {PLATFORMS[board]: standalone_ms(board) for board in ("xavier", "orin")}
    shares = {}
    for row in rows:
        alone = tables.get(row.platform, {})
        if all(network in alone for network in row.networks):
            total = sum(alone[network][0] for network in row.networks)
            shares[row.number] = row.published_ms["gpu-only"] / total - 1
    return shares


def summary(results: Sequence[Result]) -> list[str]:
    """Sentences with the numbers."""
    values = figures(results)
    errors = values["median_error"]
    assert isinstance(errors, dict)
    numbers = ", ".join(map(str, CALIBRATED))
    lines = [
        f"Median error over experiments {numbers}: "
        + ", ".join(
            f"{LABELS[method]} {100 * errors['with_contention'][method]:.1f} %"
            for method in METHODS
        ),
        "The same without contention: "
        + ", ".join(
            f"{LABELS[method]} {100 * errors['without_contention'][method]:.1f} %"
            for method in METHODS
        ),
        f"Rank correlation (Spearman) over all methods and experiments: "
        f"{values['rank_correlation']:.3f}; within an experiment, on average: "
        f"{values['rank_correlation_within']:.3f}",
        f"Best baseline as published: {values['best_baseline_reproduced']} of "
        f"{values['experiments']}; gain above 0 or not as published: "
        f"{values['gain_above_0_reproduced']} of {values['experiments']}",
    ]
    above = gpu_above_alone([experiment for experiment, *_ in results])
    lines.append(
        "Published GPU-only time above the sum of Table 5's times alone: "
        + ", ".join(f"experiment {number} {100 * share:+.0f} %" for number, share in above.items())
    )
    return lines + [f"Experiment {number}: {text}" for number, text in REMARKS.items()]


def document(results: Sequence[Result]) -> dict[str, object]:
    """All of it as plain data."""
    return {
        "experiments": [
            {
                "number": experiment.number,
                "platform": experiment.platform,
                "scenario": experiment.scenario,
                "networks": list(experiment.networks),
                "published_ms": experiment.published_ms,
                "predicted_ms": {method: prediction.ms[method] for method in METHODS},
                "without_contention_ms": {method: free.ms[method] for method in METHODS},
                "status": prediction.status,
                "calibrated": experiment.number in CALIBRATED,
            }
            for experiment, prediction, free in results
        ],
        **figures(results),
    }


if __name__ == "__main__":
    main()
