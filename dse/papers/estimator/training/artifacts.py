"""The folder that ``dse papers learn`` writes: weights, settings with their origin, data, the
loss."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.estimator_file import DOCUMENT, WEIGHTS, estimator_files
from paretosoc.dse.papers.estimator.training.data_set import DataSet, data_files
from paretosoc.dse.papers.estimator.training.pipeline import Epoch, Learned
from paretosoc.results.errors import ResultError
from paretosoc.results.io.atomic_folder import FolderKind
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import Curve
from paretosoc.results.plots.style import COLOURS, GREY

PICTURE, COURSE = "loss.svg", "training.json"
LEARNED_FOLDER = FolderKind(
    frozenset({WEIGHTS, DOCUMENT, PICTURE, COURSE, "data.npz", "data.json"})
)
PACKAGES = ("paretosoc", "torch", "numpy", "safetensors", "numba")


def learned_files(
    data: DataSet, learned: Learned, *, command: str, seed: int, seconds: dict[str, float]
) -> dict[str, bytes]:
    """Return the files' bytes, by name."""
    trained = learned.trained
    provenance: dict[str, Json] = {
        "command": command,
        "seed": seed,
        "data": {
            "origin": data.origin,
            "sha256": data.sha256,
            "platform": data.platform,
            "groups": data.groups,
            "workloads": len(data.workloads),
            "mappings": len(data),
            "pool": list(data.pool),
            "networks": len({name for workload in data.workloads for name in workload}),
        },
        "parameters": trained.parameters,
        "epochs": len(trained.epochs),
        "kept_epoch": trained.best,
        "held_out": learned.accuracy.document(),
        "versions": {
            "python": platform.python_version(),
            **{
                package: next((found.version for found in distributions(name=package)), None)
                for package in PACKAGES
            },
        },
    }
    course: dict[str, Json] = {
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "epochs": [
            {name: round(value, 6) for name, value in vars(epoch).items()}
            for epoch in trained.epochs
        ],
    }
    return {
        **estimator_files(trained.weights, learned.settings, provenance),
        COURSE: canonical_bytes(course),
        PICTURE: loss_svg(trained.epochs, trained.best),
        **data_files(data),
    }


def pool_of(path: Path) -> tuple[str, ...]:
    """Return the networks that the workloads of an earlier estimator were drawn from.

    Raises:
        WorkloadError: if the file does not say.
    """
    try:
        document: Any = parse(read_file(path, WorkloadError))
        names = tuple(str(name) for name in document["provenance"]["data"]["pool"])
    except ResultError as error:
        raise WorkloadError(f"--pool {path}: {error}") from None
    except (KeyError, TypeError):
        raise WorkloadError(f"--pool {path}: no estimator.json, it has no pool") from None
    if not names:
        raise WorkloadError(f"--pool {path}: it names no networks")
    return names


def loss_svg(epochs: Sequence[Epoch], best: int) -> bytes:
    """Draw cross-entropy and accuracy over the epochs. ``best`` is the one that was kept."""
    panels = {
        "cross-entropy, both heads": {
            "training": [(epoch.number, epoch.training_loss) for epoch in epochs],
            "validation": [(epoch.number, epoch.loss) for epoch in epochs],
        },
        "exact classes of the validation, %": {
            "throughput": [(epoch.number, 100 * epoch.throughput_accuracy) for epoch in epochs],
            "power": [(epoch.number, 100 * epoch.power_accuracy) for epoch in epochs],
        },
    }
    x = Axis.over("epoch", [epoch.number for epoch in epochs], 0.03)
    charts, colours = [], iter(COLOURS)
    for title, lines in panels.items():
        y = Axis.over(title, [value for line in lines.values() for _, value in line], 0.05)
        items = [Curve(line, next(colours), 1.1, name=name) for name, line in lines.items()]
        kept = Curve([(best, y.low), (best, y.high)], GREY, 1.1, name="kept")
        charts.append(Chart(x, y, (*items, kept), width=PAGE / 2))
    return Charts([charts]).picture().svg()
