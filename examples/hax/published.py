"""What HaX-CoNN publishes, and our names for its networks and boards.

``published_table*.csv`` hold the figures of its Tables 5, 6 and 8. Nothing of Tables 6 and 8 is
used for a prediction: costs are calibrated on Table 5 (networks alone on a unit) and Table 2.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
NETWORKS = {
    "Alexnet": "alexnet",
    "CaffeNet": "caffenet",
    "DenseNet": "densenet121",
    "FC_ResN18": "fcn_resnet18",
    "GoogleNet": "googlenet",
    "GoogLeNet": "googlenet",
    "Inc-res-v2": "inception_resnet_v2",
    "Inception": "inception_v4",
    "Inception-v4": "inception_v4",
    "MobileNet": "mobilenet_v1",
    "ResNet18": "resnet18",
    "ResNet50": "resnet50",
    "ResNet101": "resnet101",
    "ResNet152": "resnet152",
    "VGG-19": "vgg19",
    "VGG16": "vgg16",
    "VGG19": "vgg19",
}
PLATFORMS = {
    "xavier": "jetson-agx-xavier",
    "orin": "jetson-agx-orin-32gb",
    "snapdragon865": "snapdragon-865",
}
METHODS = ("gpu-only", "gpu-and-dsa", "herald", "h2h", "optimum")
"""Of Table 6, by our names, in its order."""
_COLUMNS = ("gpu_only", "gpu_dsa", "herald", "h2h", "haxconn")


@dataclass(frozen=True)
class Experiment:
    """A row of Table 6. ``scenario``: 2, 3 or 4, as in the paper. ``published_ms``: by method, the
    latency, or one over the frames per second if these are the goal."""

    number: int
    platform: str
    scenario: int
    networks: tuple[str, ...]
    published_ms: dict[str, float]

    @property
    def title(self) -> str:
        """The networks as the scenario joins them."""
        if self.scenario == 3:
            return " > ".join(self.networks)
        if self.scenario == 4:
            return f"{' > '.join(self.networks[:2])} + {self.networks[2]}"
        return " + ".join(self.networks)


@dataclass(frozen=True)
class Pair:
    """A cell of Table 8: the best baseline by our name, and the published gain over it."""

    networks: tuple[str, str]
    best_baseline: str
    gain: float


def experiments() -> tuple[Experiment, ...]:
    """Table 6."""
    return tuple(
        Experiment(
            number=int(row["experiment"]),
            platform=PLATFORMS[row["platform"]],
            scenario=int(row["scenario"]),
            networks=tuple(NETWORKS[row[key]] for key in ("dnn1", "dnn2", "dnn3") if row[key]),
            published_ms={
                method: 1000 / float(row[f"{column}_fps"])
                if row["goal"] == "max_fps"
                else float(row[f"{column}_ms"])
                for method, column in zip(METHODS, _COLUMNS, strict=True)
            },
        )
        for row in _rows("published_table6.csv")
    )


def pairs() -> tuple[Pair, ...]:
    """Table 8. ``D/G`` and ``G/D`` are both GPU & DSA: which network is on the DLA is not compared,
    since the paper does not say which letter stands for which."""
    names = {"GPU": "gpu-only", "D/G": "gpu-and-dsa", "G/D": "gpu-and-dsa", "Her.": "herald"}
    return tuple(
        Pair(
            networks=(NETWORKS[row["dnn_row"]], NETWORKS[row["dnn_column"]]),
            best_baseline=names.get(row["best_baseline"], row["best_baseline"].lower()),
            gain=float(row["haxconn_speedup"]) - 1,
        )
        for row in _rows("published_table8.csv")
    )


TABLE7_PERCENT = {
    "caffenet": 0.45,
    "densenet121": 0.89,
    "googlenet": 1.64,
    "inception_resnet_v2": 0.69,
    "inception_v4": 1.64,
    "mobilenet_v1": 1.31,
    "resnet18": 0.16,
    "resnet50": 0.23,
    "resnet101": 0.38,
    "resnet152": 0.71,
    "vgg16": 1.12,
    "vgg19": 1.59,
}
"""Table 7: by how much Z3 on one core slows a network on Orin's GPU down, AlexNet on the DLA."""


def standalone_ms(platform: str) -> dict[str, tuple[float, float | None]]:
    """Table 5: network -> (GPU, DLA) on ``xavier`` or ``orin``; None where it has no figure."""
    return {
        NETWORKS[row["network"]]: (
            float(row[f"{platform}_gpu_ms"]),
            float(row[f"{platform}_dla_ms"]) if row[f"{platform}_dla_ms"] else None,
        )
        for row in _rows("published_table5.csv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))
