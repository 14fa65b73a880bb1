"""``dse calibrate``: measurements at a few clocks become a profile over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.dse.cli.measure.imported_profile import Replace, source_text
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import open_console, print_json
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.calibration import (
    Calibration,
    FormError,
    Forms,
    calibrate_table,
    cross_validate,
)
from paretosoc.fitness.calibration.dvfs import Calibrated
from paretosoc.fitness.cost_model.dvfs_forms import MEANINGS, PowerForm, TimeForm
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
        float, Option(min=0.0001, max=1.0, help="Minimum relative standard error of a measurement.")
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
        bool, Option("--cross-validate", help="Print leave-one-out errors of every form.")
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
        print_json(_document(calibration, errors))
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
    console = open_console()
    title = "Parameters with one standard error; residuals of the measurements used"
    table = plain_table("of", "parameter", ">value", ">error", "meaning", title=title)
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
                    _rounded(value, 4),
                    "at its bound" if value == 0 else _rounded(error, 2),
                    MEANINGS[name],
                )
            table.add_row("", "residual", f"{100 * found.residual:.1f} %", "", "")
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


def _rounded(value: float, digits: int) -> str:
    """Return a value with this many significant digits, without an exponent."""
    return f"{Decimal(f'{value:.{digits}g}'):,f}"
