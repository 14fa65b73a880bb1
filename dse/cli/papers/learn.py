"""``dse papers learn``: data from the timeline or a board, training, a report, weights."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.progress import ProgressLine
from paretosoc.dse.cli.shared.terminal import show
from paretosoc.dse.errors import WorkloadError

if TYPE_CHECKING:
    from paretosoc.dse.papers.estimator.training.data_set import DataSet
    from paretosoc.dse.papers.estimator.training.pipeline import Epoch, Learned, TrainingProgress


WORKLOADS, ROWS, EPOCHS = 2000, 3, 100
LEARNING_RATE = 1e-4
QUICK_WORKLOADS, QUICK_ROWS, QUICK_EPOCHS = 60, 4, 8
QUICK_NETWORKS = (
    *("bvlc_alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "resnet18"),
    *("resnet50", "shufflenet", "squeezenet", "vgg16", "zfnet512"),
)
_COLUMNS = (
    BarColumn(bar_width=24),
    TextColumn("{task.percentage:>3.0f} %"),
    TimeRemainingColumn(),
    TextColumn("{task.fields[words]}"),
)


@dataclass(frozen=True)
class DataOptions:
    """Options for the source of the data."""

    workloads: Annotated[
        int | None,
        Option(min=10, max=opt.MAX_SIZE, help=f"Random workloads. [default: {WORKLOADS}]"),
    ] = None
    rows: Annotated[
        int | None,
        Option(min=1, max=opt.MAX_SIZE, help=f"Mappings of each workload. [default: {ROWS}]"),
    ] = None
    measurements: Annotated[
        Path | None, Option(help="CSV of measurements, used instead of simulated data.")
    ] = None
    data: Annotated[Path | None, Option(help="data.npz of an earlier run.")] = None
    pool: Annotated[
        Path | None,
        Option(help="estimator.json whose networks to draw from. [default: the whole catalogue]"),
    ] = None
    no_short_play: Annotated[
        bool,
        Option("--no-short-play", help="Simulate nothing: leave the short play out of the inputs."),
    ] = False
    jobs: Annotated[
        int | None, Option(min=1, max=64, help="Number of processes for data. [default: all cores]")
    ] = None


@dataclass(frozen=True)
class TrainingOptions:
    """Options for the training of the estimator."""

    epochs: Annotated[
        int | None,
        Option(min=1, max=opt.MAX_SIZE, help=f"Passes over the data. [default: {EPOCHS}]"),
    ] = None
    learning_rate: Annotated[
        float, Option(min=1e-7, max=1.0, help="Initial learning rate of AdamW.")
    ] = LEARNING_RATE
    seed: Annotated[
        int,
        Option(min=0, max=opt.MAX_SEED, help="Random seed for data, split and initial weights."),
    ] = 1


def learn(
    output: opt.Output,
    quick: Annotated[
        bool, Option("--quick", help="Small run with few networks, workloads and epochs.")
    ] = False,
    *,
    source: DataOptions,
    training: TrainingOptions,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Train MapFormer's estimator and say how well it predicts workloads it never saw."""
    from paretosoc.dse.papers.estimator.training.artifacts import LEARNED_FOLDER, learned_files
    from paretosoc.dse.papers.estimator.training.pipeline import learn as learn_from
    from paretosoc.results.io.optional import optional_import

    if source.measurements is not None and source.data is not None:
        raise WorkloadError("--measurements and --data exclude each other")
    if (source.measurements or source.data) and (source.workloads or source.rows or source.pool):
        raise WorkloadError("--workloads, --rows and --pool are for data that the timeline makes")
    LEARNED_FOLDER.check(output, overwrite=force)
    for package in ("torch", "safetensors"):
        optional_import(package, extra="learn", purpose="dse papers learn")
    began = time.monotonic()
    samples = _samples(source, training.seed, quick=quick)
    data_seconds = time.monotonic() - began
    line: ProgressLine[TrainingProgress] = ProgressLine(
        TextColumn("training"),
        *_COLUMNS,
        show=lambda now: {"completed": now.share, "words": _describe_epoch(now.epoch)},
        total=1.0,
        words="",
    )
    with line as on_progress:
        learned = learn_from(
            samples,
            seed=training.seed,
            epochs=training.epochs or (QUICK_EPOCHS if quick else EPOCHS),
            learning_rate=training.learning_rate,
            on_progress=on_progress,
        )
    files = learned_files(
        samples,
        learned,
        command=_command(source, training, quick=quick),
        seed=training.seed,
        seconds={"data": data_seconds, "training": learned.training_s},
    )
    LEARNED_FOLDER.write(output, files, overwrite=force)
    _tell(output, samples, learned, files["estimator.json"], as_json=as_json)


def _samples(source: DataOptions, seed: int, *, quick: bool) -> DataSet:
    """Return the data, with tokens."""
    from paretosoc.dse.papers.estimator.training.artifacts import pool_of
    from paretosoc.dse.papers.estimator.training.data_set import (
        DataPlan,
        load_data,
        make_data,
        with_tokens,
    )
    from paretosoc.dse.papers.estimator.training.measurements import read_measurements

    jobs, short_play = source.jobs or os.cpu_count() or 1, not source.no_short_play
    if source.measurements is None and source.data is None:
        networks: tuple[str, ...] = QUICK_NETWORKS if quick else ()
        plan = DataPlan(
            seed=seed,
            workloads=source.workloads or (QUICK_WORKLOADS if quick else WORKLOADS),
            rows=source.rows or (QUICK_ROWS if quick else ROWS),
            networks=networks if source.pool is None else pool_of(source.pool),
        )
        with _data_line(plan.workloads, "drawn, judged by the timeline") as line:
            return make_data(
                plan, short_play=short_play, jobs=jobs, on_progress=lambda *done: line(done)
            )
    read = (
        read_measurements(source.measurements)
        if source.measurements
        else load_data(source.data or Path())
    )
    with _data_line(len(read.workloads), "read") as line:
        return with_tokens(
            read, short_play=short_play, jobs=jobs, on_progress=lambda *done: line(done)
        )


def _data_line(workloads: int, words: str) -> ProgressLine[tuple[int, int]]:
    """Return how many workloads are done, of how many."""
    return ProgressLine(
        TextColumn("workloads"),
        *_COLUMNS,
        show=lambda done: {"completed": done[0], "total": done[1]},
        total=workloads,
        words=words,
    )


def _describe_epoch(epoch: Epoch | None) -> str:
    if epoch is None:
        return ""
    return (
        f"epoch {epoch.number}: loss {epoch.training_loss:.3f}, validation {epoch.loss:.3f}, "
        f"exact {epoch.throughput_accuracy:.1%} throughput, {epoch.power_accuracy:.1%} power"
    )


def _command(source: DataOptions, training: TrainingOptions, *, quick: bool) -> str:
    rate = training.learning_rate
    return recorded_command(
        {
            "--quick": "" if quick else None,
            "--workloads": source.workloads,
            "--rows": source.rows,
            "--epochs": training.epochs,
            "--learning-rate": None if rate == LEARNING_RATE else f"{rate:g}",
            "--pool": source.pool,
            "--measurements": source.measurements,
            "--data": source.data,
            "--no-short-play": "" if source.no_short_play else None,
            "--seed": training.seed,
        }
    )


def recorded_command(options: Mapping[str, object]) -> str:
    """Return the command as it is kept with the weights: options that are not None, of files the
    names."""
    words = ["dse papers learn"]
    for option, value in options.items():
        if value is not None:
            words.append(f"{option} {value.name if isinstance(value, Path) else value}".rstrip())
    return " ".join(words)


def _tell(
    output: Path, samples: DataSet, learned: Learned, document: bytes, *, as_json: bool
) -> None:
    from paretosoc.common.tables import plain_table

    if as_json:
        sys.stdout.write(document.decode())
        return
    trained, accuracy = learned.trained, learned.accuracy

    print(
        f"{len(samples):,} mappings of {len(samples.workloads):,} workloads; "
        f"{trained.parameters:,} parameters; epoch {trained.best} of {len(trained.epochs)} kept"
    )
    title = f"Held out: {accuracy.mappings:,} mappings of {accuracy.workloads:,} workloads"
    figures = (">exact class", ">at most one off", ">classes off", ">bin width")
    table = plain_table("", *figures, title=title)
    for name, head in accuracy.heads.items():
        table.add_row(
            "  short play alone" if name.startswith("played") else name,
            f"{head.exact:.1%}",
            f"{head.within_one:.1%}",
            f"{head.mean_error_classes:.2f}",
            f"{head.typical_bin_width:.1%}",
        )
    show(table)
    print(f"Written to {output}: weights, settings, data and the losses of the training.")
