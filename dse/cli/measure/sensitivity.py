"""``dse sensitivity``: accuracy that a network loses if a layer runs in another number format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.common.units import PPM
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.progress import ProgressLine
from paretosoc.dse.cli.shared.terminal import say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.sensitivity.measure import (
    LayerLoss,
    LossMeter,
    Metric,
    layer_losses,
    losses_csv,
)
from paretosoc.dse.tools.sensitivity.rewrite import FORMATS, trained_model
from paretosoc.dse.tools.sensitivity.samples import parse_scaling, random_samples, read_samples

_RANDOM = "random"
_SHOWN = 10
"""Layers that are printed, the most sensitive ones."""


def sensitivity(
    source: Annotated[str, Argument(help="An .onnx file with trained weights.", metavar="MODEL")],
    data: Annotated[
        str,
        Option(
            "--data",
            help="Folder with samples (.npy, .npz, .png, .jpg), or 'random'.",
            metavar="FOLDER|random",
        ),
    ],
    output: Annotated[Path, Option("--output", "-o", help="Table of losses (.csv).")],
    formats: Annotated[
        str, Option("--format", help="Number formats, comma-separated: int8, fp16.")
    ] = "int8",
    samples: Annotated[
        int, Option(min=1, max=opt.MAX_SIZE, help="Number of samples at most.")
    ] = 32,
    metric: Annotated[
        Metric | None,
        Option(
            help="top1: share of another class; noise: noise over signal. [default: by outputs]"
        ),
    ] = None,
    image_mean: Annotated[
        str | None,
        Option(
            help="Mean of images whose values are from 0 to 1: a number, or one per channel. "
            "[default: 0]"
        ),
    ] = None,
    image_std: Annotated[
        str | None, Option(help="What is divided by, likewise: (value - mean) / std. [default: 1]")
    ] = None,
    dim: opt.Dimensions = None,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> None:
    """Measure each layer's loss in another number format (needs the extra 'host')."""
    if data == _RANDOM:
        why = "is for images, which --data random does not have"
        refuse_options(why, "image_mean", "image_std")
    check_output_file(output, overwrite=force, suffixes=(".csv",))
    chosen = _formats(formats)
    scaling = parse_scaling(image_mean, image_std)
    network = trained_model(source, opt.sizes_of(dim, source))
    taken = (
        random_samples(network.inputs, samples, label=network.name)
        if data == _RANDOM
        else read_samples(Path(data), network.inputs, samples, scaling)
    )
    meter = LossMeter(network, taken, metric)
    with ProgressLine[tuple[int, int]](
        TextColumn("layers"),
        BarColumn(),
        MofNCompleteColumn(),
        show=lambda event: {"completed": event[0], "total": event[1]},
        quiet=quiet,
    ) as line:
        rows = layer_losses(
            network, meter, chosen, progress=lambda done, total: line((done, total))
        )
    replace_file(output, losses_csv(network.name, rows, meter.measure.metric))
    if data == _RANDOM and not quiet:
        say("warning: measured on random input, which is not what the network was trained on")
    if meter.measure.metric is Metric.TOP1 and not any(row.loss_ppm for row in rows) and not quiet:
        say("warning: no class changed; more samples or --metric noise tell layers apart")
    if not quiet:
        _print(rows, meter, len(taken))


def _formats(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in FORMATS:
            raise WorkloadError(f"--format: one of {', '.join(FORMATS)} is required, got {name!r}")
    return names


def _print(rows: Sequence[LayerLoss], meter: LossMeter, samples: int) -> None:
    table = plain_table("layer", "format", ">loss %")
    order = sorted(rows, key=lambda row: -row.loss_ppm)
    for row in order[:_SHOWN]:
        table.add_row(row.layer, row.number_format, f"{100 * row.loss_ppm / PPM:.4f}")
    show(table)
    what = {
        Metric.TOP1: "share of positions with another class",
        Metric.NOISE: "noise over signal",
    }[meter.measure.metric]
    for number_format in dict.fromkeys(row.number_format for row in rows):
        total = sum(row.loss_ppm for row in rows if row.number_format == number_format)
        show(
            f"{number_format}: all layers add up to {100 * total / PPM:.4g} % ({what}, "
            f"{pluralize(samples, 'sample')}, outputs {', '.join(meter.measure.outputs)})"
        )
