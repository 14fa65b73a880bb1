"""The summed losses of single layers as a prediction of a network's loss in mixed formats.

Four networks with trained weights, as packages ship them: PP-OCR's text detection, recognition and
direction (rapidocr-onnxruntime) and Silero's voice detection (silero-vad). They are installed,
without their dependencies, into an environment of their own below the user's cache or
``--environment``. Only their models are executed. Needs the extra ``host``.

Each network is cut into about twelve groups. In a mixed mapping a random number of them runs in
int8, the others in fp32. Predicted is the sum over layers as ``dse sensitivity`` writes it,
measured the loss of the whole mapping, both on the same samples: rendered words, pages of them,
words upside down, and voiced sounds. All is drawn from fixed seeds.

Usage: ``python -m benchmarks.sensitivity [--json] [--mappings 10] [--samples 12]
[--environment DIR]``, some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from benchmarks.harness.report import Column, parser, show
from benchmarks.peers.environment import installed
from paretosoc.common.cache import user_cache
from paretosoc.common.units import PPM
from paretosoc.dse.tools.sensitivity.measure import LossMeter, Metric, layer_losses
from paretosoc.dse.tools.sensitivity.rewrite import INT8, TrainedModel, trained_model
from paretosoc.dse.tools.sensitivity.samples import Sample
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

REQUIREMENTS = ("--no-deps", "rapidocr-onnxruntime", "silero-vad")
GROUPS = 12
WORDS = ("front", "unit", "clock", "energy", "latency", "board", "group", "2026", "27 mJ", "frame")
COLUMNS = (
    Column("network", "network"),
    Column("layers", "layers"),
    Column("groups", "groups"),
    Column("metric", "loss is"),
    Column("mappings", "mappings"),
    Column("predicted_percent", "predicted, median %", ".4f"),
    Column("measured_percent", "measured, median %", ".4f"),
    Column("ratio", "predicted / measured, median", ".2f"),
    Column("rank_correlation", "rank correlation", ".3f"),
)


@dataclass(frozen=True)
class Case:
    """A model below an environment's packages, and how samples of its inputs are drawn."""

    name: str
    path: str
    dimensions: Mapping[str, int]
    draw: Callable[[np.random.Generator], Sample]
    share: int = 1
    """Factor of the samples, as a sample of a small network has few positions to compare."""


@dataclass(frozen=True)
class Row:
    """The losses of a network's mappings."""

    network: str
    layers: int
    groups: int
    metric: str
    mappings: int
    predicted_percent: float
    measured_percent: float
    ratio: float
    rank_correlation: float


def text_image(
    rng: np.random.Generator, height: int, width: int, lines: int
) -> NDArray[np.float32]:
    """Return rendered words, [1, 3, height, width] between -1 and 1."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 100, height / 100), dpi=100)
    figure.set_facecolor(str(rng.uniform(0.7, 1.0)))
    canvas: Any = FigureCanvasAgg(figure)
    for k in range(lines):
        words = " ".join(rng.choice(WORDS, size=2))
        size = 0.45 * height / lines * rng.uniform(0.6, 1.0)
        figure.text(
            rng.uniform(0.02, 0.2), (k + 0.3) / lines, words, size=size, family="DejaVu Sans",
            color=str(rng.uniform(0.0, 0.3)),
        )  # fmt: skip
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:height, :width, :3].astype(np.float32)
    pixels += rng.normal(0, 4, pixels.shape).astype(np.float32)
    image: NDArray[np.float32] = pixels.transpose(2, 0, 1)[None] / np.float32(127.5) - 1
    return image


def voiced_sound(rng: np.random.Generator) -> Sample:
    """Return 36 ms at 16 kHz: harmonics of a random pitch, and noise."""
    time = np.arange(576) / 16_000
    pitch, loud = rng.uniform(80, 300), rng.uniform(0.02, 0.5)
    tones = [np.sin(2 * np.pi * k * pitch * time + rng.uniform(0, 6)) / k for k in range(1, 12)]
    sound = loud * np.sum(tones, axis=0) / 2 + rng.normal(0, 0.02, time.shape)
    return {
        "input": sound[None].astype(np.float32),
        "state": rng.normal(0, 0.1, (2, 1, 128)).astype(np.float32),
    }


def turned(rng: np.random.Generator) -> NDArray[np.float32]:
    """Return words, upside down or not."""
    image = text_image(rng, 48, 48, 1)
    return image[:, :, ::-1, ::-1].copy() if rng.random() < 0.5 else image


CASES = (
    Case(
        "pp-ocr-detection",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        {"p2o.DynamicDimension.1": 320, "p2o.DynamicDimension.2": 320},
        lambda rng: {"x": text_image(rng, 320, 320, 5)},
    ),
    Case(
        "pp-ocr-recognition",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        {"?": 48, "p2o.DynamicDimension.1": 320},
        lambda rng: {"x": text_image(rng, 48, 320, 1)},
    ),
    Case(
        "silero-vad",
        "silero_vad/data/silero_vad_openvino_16k.onnx",
        {},
        lambda rng: voiced_sound(rng),
        4,
    ),
    Case(
        "pp-ocr-direction",
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        {"?": 48},
        lambda rng: {"x": turned(rng)},
        8,
    ),
)


def measure(
    case: Case,
    packages: Path,
    *,
    mappings: int,
    samples: int,
    metric: Metric | None = None,
) -> tuple[Row, list[float], list[float]]:
    """Return a network's row, and losses predicted and measured, in millionths."""
    path = str(packages / case.path)
    network = trained_model(path, case.dimensions)
    rng = np.random.default_rng(24)
    meter = LossMeter(network, [case.draw(rng) for _ in range(samples * case.share)], metric)
    losses = {row.layer: row.loss_ppm for row in layer_losses(network, meter, [INT8])}
    grouped = group_network(
        load_network(path, dimensions=case.dimensions).graph, None, groups=GROUPS
    )
    groups = [[layer.name for layer in group.layers] for group in grouped.groups]
    predicted, measured = [], []
    for mapping in _mappings(rng, len(groups), mappings):
        layers = [name for g in mapping for name in groups[g]]
        predicted.append(float(sum(losses[name] for name in layers)))
        measured.append(float(meter.loss_ppm(dict.fromkeys(layers, INT8))))
    row = _row(case.name, network, len(groups), meter.measure.metric, predicted, measured)
    return row, predicted, measured


def _mappings(rng: np.random.Generator, groups: int, count: int) -> list[list[int]]:
    """Groups in int8: at least one, any number of them equally likely."""
    sizes = rng.integers(1, groups + 1, count)
    return [sorted(rng.permutation(groups)[:size].tolist()) for size in sizes]


def _row(
    name: str,
    network: TrainedModel,
    groups: int,
    metric: Metric,
    predicted: Sequence[float],
    measured: Sequence[float],
) -> Row:
    one, other = np.array(predicted), np.array(measured)
    return Row(
        network=name,
        layers=len(network.layers),
        groups=groups,
        metric=metric.value,
        mappings=len(one),
        predicted_percent=100 * float(np.median(one)) / PPM,
        measured_percent=100 * float(np.median(other)) / PPM,
        ratio=float(np.median(one / np.maximum(other, 1.0))),
        rank_correlation=float(spearmanr(one, other).statistic),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    options = parser("benchmarks.sensitivity", "Predicted against measured losses of int8.")
    options.add_argument("--mappings", type=int, default=10, help="per network [default: 10]")
    options.add_argument(
        "--samples", type=int, default=12, help="of a network, small ones have more [default: 12]"
    )
    options.add_argument(
        "--environment",
        type=Path,
        default=user_cache() / "sensitivity",
        metavar="DIR",
        help="folder of the environment [default: %(default)s]",
    )
    chosen = options.parse_args(arguments)
    python = installed(REQUIREMENTS, chosen.environment)
    packages = next((Path(python).parents[1] / "lib").glob("python*/site-packages"))
    rows: list[Row] = []
    predicted: list[float] = []
    measured: list[float] = []
    for case in CASES:
        found = measure(case, packages, mappings=chosen.mappings, samples=chosen.samples)
        rows.append(found[0])
        predicted += found[1]
        measured += found[2]
        if found[0].metric == Metric.TOP1.value:
            # Noise too, although top-1 agreement follows from the outputs.
            found = measure(
                case, packages, mappings=chosen.mappings, samples=chosen.samples,
                metric=Metric.NOISE,
            )  # fmt: skip
            rows.append(found[0])
    pooled = float(spearmanr(predicted, measured).statistic)
    show(
        "Losses of layers in int8, added up, against those of mixed mappings",
        COLUMNS,
        [asdict(row) for row in rows],
        as_json=chosen.json,
        notes=[
            f"{chosen.samples} samples, of small networks more. All {len(measured)} mappings, each "
            f"network by the metric that follows from its outputs: rank correlation {pooled:.3f}."
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
