"""``dse papers learn``: data from the timeline or a board, training, a report, weights."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from dse.cli.shared.options import MAX_SEED, MAX_SIZE, AsJson, Force, check_number
from dse.errors import WorkloadError
from dse.inputs.interrupts import deferred_interrupt
from dse.papers.estimator.training.artifacts import (
    check_learned_folder,
    learned_files,
    pool_of,
    write_learned,
)
from dse.papers.estimator.training.data_set import DataPlan, load_data, make_data, with_tokens
from dse.papers.estimator.training.measurements import read_measurements
from dse.papers.estimator.training.pipeline import (
    accuracy_of,
    examples_of,
    settings_of,
    split_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.progress import Progress, TaskID

    from dse.papers.estimator.training.data_set import DataSet
    from dse.papers.estimator.training.pipeline import Accuracy
    from dse.papers.estimator.training.training import Trained

WORKLOADS, ROWS, EPOCHS = 2000, 3, 100
LEARNING_RATE = 1e-4
QUICK_WORKLOADS, QUICK_ROWS, QUICK_EPOCHS = 60, 4, 8
QUICK_NETWORKS = (
    *("bvlc_alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "resnet18"),
    *("resnet50", "shufflenet", "squeezenet", "vgg16", "zfnet512"),
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("learn")(learn)


def learn(
    output: Annotated[Path, typer.Option("--output", "-o", help="Output folder.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Small run with few networks, workloads and epochs.")
    ] = False,
    workloads: Annotated[
        int | None,
        typer.Option(min=10, max=MAX_SIZE, help=f"Random workloads. [default: {WORKLOADS}]"),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_SIZE, help=f"Mappings of each workload. [default: {ROWS}]"),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_SIZE, help=f"Passes over the data. [default: {EPOCHS}]"),
    ] = None,
    learning_rate: Annotated[
        float,
        typer.Option(
            min=1e-7, max=1.0, callback=check_number, help="Initial learning rate of AdamW."
        ),
    ] = LEARNING_RATE,
    seed: Annotated[
        int,
        typer.Option(min=0, max=MAX_SEED, help="Random seed for data, split and initial weights."),
    ] = 1,
    measurements: Annotated[
        Path | None,
        typer.Option(help="CSV of measurements, used instead of simulated data."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="data.npz of an earlier run.")] = None,
    pool: Annotated[
        Path | None,
        typer.Option(
            help="estimator.json whose networks to draw from. [default: the whole catalogue]"
        ),
    ] = None,
    no_short_play: Annotated[
        bool,
        typer.Option(
            "--no-short-play", help="Simulate nothing: leave the short play out of the inputs."
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Number of processes for data. [default: all cores]"),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Train MapFormer's estimator and say how well it predicts workloads it never saw."""

    if measurements is not None and data is not None:
        raise WorkloadError("--measurements and --data exclude each other")
    if (measurements or data) and (workloads or rows or pool):
        raise WorkloadError("--workloads, --rows and --pool are for data that the timeline makes")
    check_learned_folder(output, overwrite=force)
    _need_torch()

    networks: tuple[str, ...] = QUICK_NETWORKS if quick else ()
    if pool is not None:
        networks = pool_of(pool)
    cores = jobs or os.cpu_count() or 1
    with _progress() as bar:
        began = time.monotonic()
        samples = _data(
            measurements,
            data,
            seed=seed,
            workloads=workloads or (QUICK_WORKLOADS if quick else WORKLOADS),
            rows=rows or (QUICK_ROWS if quick else ROWS),
            networks=networks,
            short_play=not no_short_play,
            jobs=cores,
            bar=bar,
        )
        data_seconds = time.monotonic() - began
        split = split_of(samples, seed)
        settings = settings_of(samples, split)
        task = bar.add_task("training", total=1.0, words="")
        began = time.monotonic()
        with deferred_interrupt() as interrupt:
            from dse.papers.estimator.training.training import train

            trained = train(
                settings,
                examples_of(samples, split.training, settings),
                examples_of(samples, split.validation, settings),
                seed=seed,
                epochs=epochs or (QUICK_EPOCHS if quick else EPOCHS),
                learning_rate=learning_rate,
                on_batch=lambda share: bar.update(task, completed=share),
                on_epoch=lambda epoch: bar.update(
                    task,
                    words=f"epoch {epoch.number}: loss {epoch.training_loss:.3f}, validation "
                    f"{epoch.loss:.3f}, exact {epoch.throughput_accuracy:.1%} throughput, "
                    f"{epoch.power_accuracy:.1%} power",
                ),
                stop=lambda: interrupt.requested,
            )
        training_seconds = time.monotonic() - began
    accuracy = accuracy_of(samples, split.held_out, settings, trained.weights)
    command = recorded_command(
        {
            "--quick": "" if quick else None,
            "--workloads": workloads,
            "--rows": rows,
            "--epochs": epochs,
            "--learning-rate": None if learning_rate == LEARNING_RATE else f"{learning_rate:g}",
            "--pool": pool,
            "--measurements": measurements,
            "--data": data,
            "--no-short-play": "" if no_short_play else None,
            "--seed": seed,
        }
    )
    files = learned_files(
        samples,
        settings,
        trained,
        accuracy,
        command=command,
        seed=seed,
        seconds={"data": data_seconds, "training": training_seconds},
    )
    write_learned(output, files, overwrite=force)
    _tell(output, samples, trained, accuracy, files["estimator.json"], as_json=as_json)


def recorded_command(options: Mapping[str, object]) -> str:
    """The command as it is kept with the weights: options that are not None, of files the names."""
    words = ["dse papers learn"]
    for option, value in options.items():
        if value is not None:
            words.append(f"{option} {value.name if isinstance(value, Path) else value}".rstrip())
    return " ".join(words)


def _need_torch() -> None:
    from importlib.util import find_spec

    for package in ("torch", "safetensors"):
        if find_spec(package) is None:
            raise WorkloadError(
                f"dse papers learn needs the package {package}: pip install 'paretosoc[learn]'"
            )


def _progress() -> Progress:

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}"),
        console=Console(stderr=True),
    )


def _data(
    measurements: Path | None,
    saved: Path | None,
    *,
    seed: int,
    workloads: int,
    rows: int,
    networks: tuple[str, ...],
    short_play: bool,
    jobs: int,
    bar: Progress,
) -> DataSet:

    def progress_of(task: TaskID) -> Callable[[int, int], None]:
        return lambda done, total: bar.update(task, completed=done, total=total)

    if measurements is None and saved is None:
        plan = DataPlan(seed=seed, workloads=workloads, rows=rows, networks=networks)
        task = bar.add_task("workloads", total=workloads, words="drawn, judged by the timeline")
        return make_data(plan, short_play=short_play, jobs=jobs, on_progress=progress_of(task))
    read = read_measurements(measurements) if measurements else load_data(saved or Path())
    task = bar.add_task("workloads", total=len(read.workloads), words="read")
    return with_tokens(read, short_play=short_play, jobs=jobs, on_progress=progress_of(task))


def _tell(
    output: Path,
    samples: DataSet,
    trained: Trained,
    accuracy: Accuracy,
    document: bytes,
    *,
    as_json: bool,
) -> None:
    if as_json:
        sys.stdout.write(document.decode())
        return

    print(
        f"{len(samples):,} mappings of {len(samples.workloads):,} workloads; "
        f"{trained.parameters:,} parameters; epoch {trained.best} of {len(trained.epochs)} kept"
    )
    table = Table(
        title=f"Held out: {accuracy.mappings:,} mappings of {accuracy.workloads:,} workloads"
    )
    for name in ("", "exact class", "at most one off", "classes off", "bin width"):
        table.add_column(name, justify="left" if not name else "right")
    for name, head in accuracy.heads.items():
        table.add_row(
            "  short play alone" if name.startswith("played") else name,
            f"{head.exact:.1%}",
            f"{head.within_one:.1%}",
            f"{head.mean_error_classes:.2f}",
            f"{head.typical_bin_width:.1%}",
        )
    Console().print(table)
    print(f"Written to {output}: weights, settings, data and the course of the training.")
