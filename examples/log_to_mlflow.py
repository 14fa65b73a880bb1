"""Log a search to MLflow while it runs: its growth, then its choices and its files.

Usage: python examples/log_to_mlflow.py [FOLDER [EVALUATIONS]]

Needs the package mlflow, or mlflow-skinny. Runs go where MLFLOW_TRACKING_URI says, else to MLflow's
own default. The files are those of ``dse show``.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import mlflow

import paretosoc as dse


def log_progress(progress: dse.Progress) -> None:
    """Log a generation. ``dse.explore`` calls it after each."""
    figures = {"members": progress.members, "hypervolume": progress.hypervolume}
    mlflow.log_metrics(figures, step=progress.evaluations)


def main(folder: Path, evaluations: int) -> None:
    """Explore two networks as one run of MLflow. An older result in the folder is replaced."""
    networks, platform = ["vgg19", "resnet50"], "jetson-agx-xavier"
    with mlflow.start_run():
        mlflow.log_params({"networks": networks, "platform": platform, "evaluations": evaluations})
        front = dse.explore(
            networks, platform, max_evaluations=evaluations, on_progress=log_progress
        )
        for name in ("fastest", "knee", "lowest-energy"):
            for objective, value in front[name].display.items():
                # Names of metrics may have no brackets.
                mlflow.log_metric(re.sub(r"[^\w .-]", "", f"{name} {objective}"), value)
        front.save(folder, overwrite=True)
        mlflow.log_artifacts(str(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Log a search to MLflow.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/two"))
    parser.add_argument("evaluations", type=int, nargs="?", default=20_000)
    main(**vars(parser.parse_args()))
