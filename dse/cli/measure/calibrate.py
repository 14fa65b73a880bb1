"""``dse calibrate``: measurements at a few clocks become a profile over all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from common.arrays import FloatArray
from dse.cli.measure.import_options import Replace, Source, source_text
from dse.cli.shared.options import AsJson, Dimensions, PlatformName, Precision, check_number
from dse.errors import WorkloadError
from dse.inputs.output import check_output_file, write_output_file
from dse.workload.parse_options import parse_dimensions
from fitness.calibration.dvfs import calibrate_rows, power_errors, subjects, time_errors
from fitness.calibration.dvfs_profile import Subject, clock_profile_document
from fitness.calibration.dvfs_table import read_measurements
from fitness.cost_model.dvfs_forms import PowerForm, TimeForm
from fitness.costs.network_costs import choose_precision
from platforms.errors import PlatformError
from platforms.platform_file import load_platform
from results.io.canonical_json import canonical_bytes
from sdf.catalogue.catalogue import load_network

if TYPE_CHECKING:
    from fitness.calibration.dvfs import Calibrated
    from fitness.calibration.dvfs_table import ClockMeasurement
    from platforms.platform import Platform

TIME_FORMS = ("overlap-stall", "overlap", "overlap-fitted", "maximum", "sum")
POWER_FORMS = ("voltage-clock", "voltage", "share")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("calibrate")(calibrate)


def calibrate(
    measurements: Annotated[
        Path,
        typer.Argument(
            help="CSV with columns network, unit, DOMAIN_mhz, ms or fps, mw or mj; layer is "
            "optional.",
            metavar="MEASUREMENTS.csv",
        ),
    ],
    platform: PlatformName,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output profile (JSON).")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            help=f"How a time depends on clocks: {', '.join(TIME_FORMS)}. Default: the one with "
            "the most parameters that the measurements determine."
        ),
    ] = None,
    power_form: Annotated[
        str, typer.Option(help=f"How a power does: {', '.join(POWER_FORMS)}.")
    ] = POWER_FORMS[0],
    fixed: Annotated[
        bool, typer.Option("--fixed", help="Also fit a frequency-independent term.")
    ] = False,
    noise: Annotated[
        float,
        typer.Option(
            min=0.0001,
            max=1.0,
            callback=check_number,
            help="Minimum relative standard error of a measurement.",
        ),
    ] = 0.01,
    cross_validate: Annotated[
        bool,
        typer.Option("--cross-validate", help="Print leave-one-out errors of every form."),
    ] = False,
    precision: Precision = None,
    dim: Dimensions = None,
    source: Source = None,
    force: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Fit time and power over clocks to measurements at a few."""

    for option, value, known in (
        ("--form", form, TIME_FORMS),
        ("--power-form", power_form, POWER_FORMS),
    ):
        if value is not None and value not in known:
            raise WorkloadError(f"{option}: one of {', '.join(known)} is required, got {value!r}")
    if output is not None:
        check_output_file(output, option="--output", overwrite=force)
    chip = load_platform(platform)
    number_format = choose_precision(chip, precision)
    groups = subjects(read_measurements(measurements, chip))
    graphs = {}
    for name in dict.fromkeys(key[0] for key in groups):
        graph = load_network(name, dimensions=dict(parse_dimensions(dim))).graph
        layers = [actor.layer for actor in graph.actors if actor.layer is not None]
        graphs[name] = Subject(graph.name, sum(layer.macs for layer in layers))
        names = {layer.name for layer in layers}
        for network, layer, _ in groups:
            if network == name and layer and layer not in names:
                raise WorkloadError(f"{measurements}: network {name!r} has no layer {layer!r}")
    results = [
        calibrate_rows(
            rows,
            chip,
            time_form=None if form is None else TimeForm(form),
            power_form=PowerForm(power_form),
            fixed=fixed,
            noise=noise,
        )
        for rows in groups.values()
    ]
    document = clock_profile_document(
        chip,
        results,
        graphs,
        precision=number_format,
        source=source_text(source, "dse calibrate", [measurements]),
    )
    if output is not None:
        write_output_file(output, canonical_bytes(document))
    errors = _cross_validated(list(groups.values()), results, chip) if cross_validate else []
    if as_json:
        forms = [
            {
                "network": result.network,
                "layer": result.layer,
                "unit": result.unit,
                "form": result.time_form.value,
                "reason": result.time_reason,
            }
            for result in results
        ]
        output_document = {"profile": document, "forms": forms, "cross_validation": errors}
        print(json.dumps(output_document, indent=1))
        return
    _print(results, errors)
    if output is not None:
        print(f"Written to {output}.")


def _cross_validated(
    groups: list[list[ClockMeasurement]], results: list[Calibrated], platform: Platform
) -> list[dict[str, str | float | None]]:
    """Median error of each form over the rows, each predicted from the others of its subject."""
    from functools import partial

    def of_time(form: TimeForm) -> list[FloatArray]:
        return [time_errors(group, platform, form) for group in groups]

    def of_power(form: PowerForm) -> list[FloatArray]:
        return [
            power_errors(group, platform, form, result.time.values)
            for group, result in zip(groups, results, strict=True)
            if result.power is not None
        ]

    rows: list[dict[str, str | float | None]] = []
    tries = [("time", name, partial(of_time, TimeForm(name))) for name in TIME_FORMS]
    tries += [("power", name, partial(of_power, PowerForm(name))) for name in POWER_FORMS]
    for what, name, errors_of in tries:
        entry: dict[str, str | float | None] = {"of": what, "form": name}
        median, largest, reason = None, None, None
        try:
            if found := errors_of():
                errors = np.abs(np.concatenate(found))
                median, largest = float(np.median(errors)), float(errors.max())
        except PlatformError as error:
            reason = str(error)
        rows.append(entry | {"median_error": median, "largest_error": largest, "reason": reason})
    return rows


def _print(results: list[Calibrated], errors: list[dict[str, str | float | None]]) -> None:

    console = Console()
    table = Table(title="Parameters with one standard error; residuals of the measurements used")
    for name in ("of", "parameter", "value", "error"):
        table.add_column(name, justify="right" if name in ("value", "error") else "left")
    for result in results:
        for what, found in (("time", result.time), ("power", result.power)):
            if found is None:
                continue
            layer = f" {result.layer}" if result.layer else ""
            table.add_section()
            for place, (name, error) in enumerate(found.errors.items()):
                value = found.values[name]
                table.add_row(
                    f"{what} of {result.network}{layer} on {result.unit}" if place == 0 else "",
                    name,
                    f"{value:.4g}",
                    "at its bound" if value == 0 else f"{error:.2g}",
                )
            table.add_row("", "residual", f"{100 * found.residual:.1f} %", "")
    console.print(table)
    for result in results:
        if result.time_reason:
            of = f"{result.network}{f' {result.layer}' if result.layer else ''} on {result.unit}"
            print(f"Time of {of}: {result.time_form.value}, {result.time_reason}.")
    if errors:
        table = Table(title="Each row predicted from the others")
        for name in ("of", "form", "median error", "largest"):
            table.add_column(name)
        for entry in errors:
            shown = [
                "-" if entry[key] is None else f"{100 * float(entry[key] or 0):.1f} %"
                for key in ("median_error", "largest_error")
            ]
            table.add_row(str(entry["of"]), str(entry["form"]), *shown)
        console.print(table)
        for entry in errors:
            if entry["reason"] is not None:
                print(f"{entry['form']}: {entry['reason']}")
