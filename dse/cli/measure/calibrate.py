"""``dse calibrate``, ``dse measure contention``: measurements at a few clocks become a profile over
all of them, and a sweep of co-runs parameters of the contention model."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from paretosoc.common.files import replace_file
from paretosoc.common.text import plain_table
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.cli.measure.imported_profile import Replace, source_text, unit_names
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import Quantity
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.calibration import (
    Calibration,
    FormError,
    Forms,
    calibrate_table,
    cross_validate,
)
from paretosoc.fitness.calibration.dvfs import Calibrated
from paretosoc.fitness.calibration.pccs_document import (
    UsedFit,
    contention_entry,
    platform_document,
    used_fit,
)
from paretosoc.fitness.calibration.pccs_fit import PARAMETERS, ContentionFit, fit_contention
from paretosoc.fitness.calibration.pccs_sweep import Sweep, read_sweep
from paretosoc.fitness.cost_model.dvfs_forms import PowerForm, TimeForm
from paretosoc.fitness.costs.network_costs import choose_units
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.io.canonical_json import canonical_bytes


@dataclass(frozen=True)
class FormOptions:
    """How times and powers depend on clocks."""

    form: Annotated[
        TimeForm | None,
        Option(
            help="How time depends on clocks. Default: the form that predicts each time best from "
            "the others; with too few of them the one with the most parameters."
        ),
    ] = None
    power_form: Annotated[
        PowerForm | None,
        Option(
            help="How power depends on clocks. Default: the form that predicts each power best "
            "from the others."
        ),
    ] = None
    fixed: Annotated[bool, Option("--fixed", help="Also fit a frequency-independent term.")] = False
    noise: Annotated[
        float,
        Option(
            min=0.0001,
            max=1.0,
            help="Minimum relative standard error of a measurement.",
        ),
    ] = 0.01


def calibrate(
    measurements: Annotated[
        Path,
        Argument(
            help="CSV with columns network, unit, DOMAIN_mhz, ms or fps, mw or mj; layer is "
            "optional.",
            metavar="MEASUREMENTS.csv",
        ),
    ],
    platform: opt.PlatformName,
    output: Annotated[Path | None, Option("--output", "-o", help="Output profile (JSON).")] = None,
    *,
    forms: FormOptions,
    validate: Annotated[
        bool,
        Option("--cross-validate", help="Print leave-one-out errors of every form."),
    ] = False,
    precision: opt.Precision = None,
    dim: opt.Dimensions = None,
    source: opt.Source = None,
    force: Replace = False,
    as_json: opt.AsJson = False,
) -> None:
    """Fit time and power over clocks to measurements at a few."""
    check_output_file(output, overwrite=force)
    calibration = calibrate_table(
        measurements,
        load_platform(platform),
        Forms(forms.form, forms.power_form, forms.fixed, forms.noise),
        source=source_text(source, "dse calibrate", [measurements]),
        precision=precision,
        dimensions=opt.sizes_of(dim),
    )
    document = calibration.document
    if output is not None:
        replace_file(output, canonical_bytes(document))
    errors = cross_validate(calibration) if validate else []
    if as_json:
        print(json.dumps(_document(calibration, errors), indent=1))
        return
    _print(calibration.results, errors)
    for note in calibration.notes:
        print(f"Note: {note}")
    if output is not None:
        print(f"Written to {output}.")


def _document(calibration: Calibration, errors: Sequence[FormError]) -> dict[str, object]:
    return {
        "profile": calibration.document,
        "forms": [
            {
                "network": result.network,
                "layer": result.layer,
                "unit": result.unit,
                "form": result.time_form.value,
                "reason": result.time_reason,
                "power_form": result.power_form and result.power_form.value,
                "power_reason": result.power_reason,
            }
            for result in calibration.results
        ],
        "notes": list(calibration.notes),
        "cross_validation": [asdict(error) for error in errors],
    }


def _print(results: Sequence[Calibrated], errors: Sequence[FormError]) -> None:
    console = Console()
    title = "Parameters with one standard error; residuals of the measurements used"
    table = plain_table("of", "parameter", ">value", ">error", title=title)
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
        of = f"{result.network}{f' {result.layer}' if result.layer else ''} on {result.unit}"
        if result.time_reason:
            print(f"Time of {of}: {result.time_form.value}, {result.time_reason}.")
        if result.power_form is not None and result.power_reason:
            print(f"Power of {of}: {result.power_form.value}, {result.power_reason}.")
    if errors:
        title = "Each row predicted from the others"
        table = plain_table("of", "form", ">median error", ">largest", title=title)
        for entry in errors:
            shown = [
                "-" if error is None else f"{100 * error:.1f} %"
                for error in (entry.median_error, entry.largest_error)
            ]
            table.add_row(entry.of, entry.form, *shown)
        console.print(table)
        for entry in errors:
            if entry.reason is not None:
                print(f"{entry.form}: {entry.reason}")


def contention(
    sweeps: Annotated[
        list[Path],
        Argument(
            help="CSV with columns own_gbps, external_gbps, and slowdown (or alone_ms and "
            "together_ms).",
            metavar="SWEEP.csv...",
        ),
    ],
    platform: Annotated[str | None, Option("--platform", "-p", help="Platform to extend.")] = None,
    unit: Annotated[
        str, Option("--unit", help="Unit whose slowdown was measured. Comma-separated.")
    ] = "gpu",
    known: Annotated[
        list[str] | None,
        Option("--known", help="Hold a parameter: NAME=VALUE. Repeatable."),
    ] = None,
    name: Annotated[
        str | None, Option("--name", help="Name of the new platform. [default: my-PLATFORM]")
    ] = None,
    source: opt.Source = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Output platform file."),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Fit the slowdown by other units' memory traffic to measured co-runs."""
    if (platform is None) != (output is None):
        raise WorkloadError("--platform and --output are required together")
    check_output_file(output, overwrite=force)
    units = unit_names(unit)
    if platform is not None:
        choose_units(load_platform(platform), units)
    sweep = read_sweep(sweeps)
    fit = fit_contention(sweep, _known(known or ()))
    used = used_fit(fit, sweep)
    made_from = ", ".join(path.name for path in sweeps)
    entry = contention_entry(fit, used, f"{source}: {made_from}" if source else made_from)
    _report_contention(sweep, fit, used)
    if platform is None or output is None:
        print(json.dumps({"contention": entry}, indent=2))
        return
    title = name or f"my-{load_platform(platform).name}"
    _write_platform(output, platform, title, units, entry)
    print(f"written: {output}; use it with -p {output}")


def _write_platform(
    output: Path, platform: str, title: str, units: tuple[str, ...], entry: dict[str, Any]
) -> None:
    base = str(Path(platform).resolve()) if Path(platform).is_file() else platform
    text = json.dumps(platform_document(base, title, units, entry), indent=2) + "\n"
    _check_platform(text, output)
    replace_file(output, text.encode())


def _known(texts: list[str] | tuple[()]) -> dict[str, float]:
    result = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in PARAMETERS:
            raise WorkloadError(
                f"--known: NAME=VALUE is required, NAME one of {', '.join(PARAMETERS)}, "
                f"got {text!r}"
            )
        result[name] = float(Quantity().parse(value, f"--known {name}"))
    return result


def _report_contention(sweep: Sweep, fit: ContentionFit, used: UsedFit) -> None:
    for text in sweep.flagged:
        print(f"dse: {text}", file=sys.stderr)
    table = plain_table("parameter", ">value", ">error")
    for name, item in fit.parameters.items():
        error = "given" if item.is_given else f"{item.error:.2g}"
        table.add_row(name, f"{float(used.parameters[name]):g}", error)
    show(table)
    worst = used.worst_sample
    show(
        f"{fit.samples} co-runs; slowdown off by {used.median_error:.2%} in the median, "
        f"{used.mean_error:.2%} in the mean, {used.largest_error:.2%} at most "
        f"(own {sweep.own[worst]:g}, external {sweep.external[worst]:g} GB/s: measured "
        f"{sweep.slowdown[worst]:.4g}, model {used.predicted[worst]:.4g})"
    )


def _check_platform(text: str, output: Path) -> None:
    """Check that the file made loads, before it takes its place."""
    with temporary_folder() as folder:
        trial = folder / output.name
        trial.write_text(text, "utf-8")
        load_platform(str(trial))
