"""Fig. 5 of HaX-CoNN: scenario 1, two instances of one network on Orin, against Mensa.

Usage: python -m examples.hax.fig5 [--json]

Two images, one for each instance, over the makespan. The paper's text names GoogLeNet only of its
five networks, and no figures but "up to 29 %"; so here are all ten of Table 5.
"""

from __future__ import annotations

import json

from rich.table import Table

from examples.hax.prediction import Prediction, built_workload, json_wanted, predict
from examples.hax.published import PLATFORMS, standalone_ms
from examples.wide_console import wide_console
from paretosoc.dse.workload.options import Scenario
from paretosoc.dse.workload.with_options import apply_scenario
from paretosoc.dse.workload.workload import workload_of

METHODS = {"gpu-only": "GPU only", "gpu-and-dsa": "GPU & DLA", "mensa": "Mensa"}
PUBLISHED_GAIN = 0.29


def main() -> None:
    """Computes and prints."""
    as_json = json_wanted("Fig. 5 of HaX-CoNN: two instances of one network.")
    results = {name: predicted(name) for name in standalone_ms("orin")}
    if as_json:
        rows = {
            name: {
                "frames_per_s": {method: 2000 / ms for method, ms in prediction.ms.items()},
                "gain": gain(prediction),
                "status": prediction.status,
            }
            for name, prediction in results.items()
        }
        print(json.dumps(rows, indent=2))
        return
    grid = Table(title="Fig. 5: two instances on Orin 32 GB, images/s", title_justify="left")
    grid.add_column("network")
    for label in (*METHODS.values(), "optimum", "gain %"):
        grid.add_column(label, justify="right")
    grid.add_column("")
    for name, prediction in results.items():
        rates = [f"{2000 / prediction.ms[method]:.0f}" for method in (*METHODS, "optimum")]
        grid.add_row(name, *rates, f"{100 * gain(prediction):.1f}", prediction.status)
    console = wide_console()
    console.print(grid)
    largest = max(gain(prediction) for prediction in results.values())
    mensa = [p for p in results.values() if p.ms["mensa"] < p.ms["gpu-only"]]
    console.print(
        f"Largest gain over the best of the three: {100 * largest:.1f} % (published: up to "
        f"{100 * PUBLISHED_GAIN:.0f} %); Mensa beats GPU only in {len(mensa)} of {len(results)}"
    )


def predicted(network: str) -> Prediction:
    """Two instances of a network."""
    workload = apply_scenario(workload_of([network]), Scenario.INSTANCES)
    return predict(built_workload(workload, PLATFORMS["orin"]), PLATFORMS["orin"])


def gain(prediction: Prediction) -> float:
    """Of the optimum over the best method that the figure has."""
    return min(prediction.ms[method] for method in METHODS) / prediction.ms["optimum"] - 1


if __name__ == "__main__":
    main()
