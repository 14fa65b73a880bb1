"""``dse measure contention``: parameters of the contention model from a sweep of co-runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.tables import plain_table
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.cli.measure.imported_profile import unit_names
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import print_json, say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import Quantity, texts_by_name, wrong_argument
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.fitness.calibration.pccs_document import (
    UsedFit,
    contention_entry,
    platform_document,
    used_fit,
)
from paretosoc.fitness.calibration.pccs_fit import PARAMETERS, ContentionFit, fit_contention
from paretosoc.fitness.calibration.pccs_sweep import Sweep, read_sweep
from paretosoc.fitness.costs.network_costs import choose_units
from paretosoc.platforms.io.platform_file import load_platform


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
        list[str] | None, Option("--known", help="Hold a parameter: NAME=VALUE. Repeatable.")
    ] = None,
    name: Annotated[
        str | None, Option("--name", help="Name of the new platform. [default: my-PLATFORM]")
    ] = None,
    source: opt.Source = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Output platform file.")] = None,
    force: opt.Force = False,
) -> None:
    """Fit the slowdown by other units' memory traffic to measured co-runs."""
    if (platform is None) != (output is None):
        raise WorkloadError("--platform and --output are required together")
    if platform is None:
        refuse_options("needs --platform", "name", "unit")
    check_output_file(output, overwrite=force)
    units = unit_names(unit)
    if platform is not None:
        choose_units(load_platform(platform), units)
    sweep = read_sweep(sweeps)
    fit = fit_contention(sweep, _known(known or ()))
    used = used_fit(fit, sweep)
    made_from = ", ".join(path.name for path in sweeps)
    entry = contention_entry(fit, used, f"{source}: {made_from}" if source else made_from)
    _report(sweep, fit, used)
    if platform is None or output is None:
        print_json({"contention": entry})
        return
    title = name or f"my-{load_platform(platform).name}"
    base = str(Path(platform).resolve()) if Path(platform).is_file() else platform
    data = json.dumps(platform_document(base, title, units, entry), indent=2).encode() + b"\n"
    with temporary_folder() as folder:
        # The file must load, before it takes its place.
        (folder / output.name).write_bytes(data)
        load_platform(str(folder / output.name))
    replace_file(output, data)
    print(f"Written to {output}; use it with -p {output}")


def _known(texts: list[str] | tuple[()]) -> dict[str, float]:
    given = texts_by_name(texts, "--known", "NAME=VALUE")
    if unknown := given.keys() - set(PARAMETERS):
        raise wrong_argument("--known NAME", f"one of {', '.join(PARAMETERS)}", min(unknown))
    return {k: float(Quantity().parse(text, f"--known {k}")) for k, text in given.items()}


def _report(sweep: Sweep, fit: ContentionFit, used: UsedFit) -> None:
    for text in sweep.flagged:
        say(text)
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
