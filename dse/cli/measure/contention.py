"""``dse measure contention`` and ``co-runs``: how much longer networks take beside others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.tables import csv_text, plain_table
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.cli.measure.imported_profile import unit_names
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import print_json, say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import Quantity, texts_by_name, wrong_argument
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.host.machine.host_units import describe_host, free_cores, make_units
from paretosoc.dse.tools.host.measure.co_running import run_co_runs
from paretosoc.dse.workload.read_options import parse_options
from paretosoc.fitness.calibration.co_runs import (
    COLUMNS,
    FEWEST_NETWORKS,
    CoRun,
    CoRunFit,
    fit_co_runs,
    plan,
    read_co_runs,
)
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


def co_runs(
    subjects: Annotated[
        list[str],
        Argument(
            help="Networks to run, at least three; or tables (CSV) with columns network, unit, "
            "beside, beside_unit and ms.",
            metavar="NETWORK|TABLE.csv...",
        ),
    ],
    platform: Annotated[
        str,
        Option(
            "--platform",
            "-p",
            help="'host': run here. A board: write the plan of what to run there.",
        ),
    ] = "host",
    unit: Annotated[
        str, Option("--unit", help="Units of a board that share work. Comma-separated.")
    ] = "gpu,dla0",
    output: Annotated[
        Path | None, Option("--output", "-o", help="Output table of the networks' runs.")
    ] = None,
    threads: opt.Threads = 1,
    rounds: Annotated[int, Option(min=1, max=100, help="How often the plan is run.")] = 3,
    seconds: Annotated[float, Option(min=0.05, max=60, help="Time of each run.")] = 0.5,
    dim: opt.Dimensions = None,
    seed: opt.WeightSeed = 0,
    force: opt.Force = False,
) -> None:
    """Measure networks beside each other, and fit one to three parameters to them."""
    tables = [Path(text) for text in subjects if text.endswith(".csv")]
    here = ("threads", "rounds", "seconds", "dim", "seed")
    if tables:
        if len(tables) < len(subjects):
            raise WorkloadError("networks or tables are required, got both")
        refuse_options("is for networks, not for tables", "output", "platform", "unit", *here)
        _report_co_runs(fit_co_runs(read_co_runs(tables)))
        return
    if output is None or len(set(subjects)) < max(FEWEST_NETWORKS, len(subjects)):
        raise WorkloadError(
            f"--output and at least {FEWEST_NETWORKS} different networks are required, got "
            f"{', '.join(subjects)}"
        )
    if platform == "host":
        refuse_options("is for a board that --platform names", "unit")
    else:
        refuse_options("is for runs on this machine", *here)
    check_output_file(output, overwrite=force)
    if platform != "host":
        names = unit_names(unit)
        choose_units(load_platform(platform), names)
        runs = [run for pair in plan(subjects, names) for run in pair if run is not None]
        _write_co_runs(output, [(run, "") for run in runs])
        print(
            f"Written to {output}; fill in ms (half of it if both share a unit), then "
            f"'dse measure co-runs {output}'"
        )
        return
    rows = run_co_runs(
        subjects,
        make_units(free_cores(), threads),
        describe_host(),
        parse_options({"dimensions": dim}),
        rounds=rounds,
        seconds=seconds,
        seed=seed,
        say=say,
    )
    _write_co_runs(output, [(run, f"{ms:.6f}") for run, ms in rows])
    _report_co_runs(fit_co_runs(read_co_runs([output])))


def _write_co_runs(output: Path, rows: Sequence[tuple[CoRun, str]]) -> None:
    cells = ((run.network, run.unit, run.beside, run.beside_unit, ms) for run, ms in rows)
    replace_file(output, csv_text(COLUMNS, cells).encode())


def _report_co_runs(fit: CoRunFit) -> None:
    table = plain_table("law", "parameters", ">held out: median", ">worst")
    for k, law in enumerate(fit.laws):
        table.add_row(
            law.law + (" *" if k == fit.supported else ""),
            ", ".join(f"{name} {value:+.1%}" for name, value in law.parameters.items()),
            f"{law.median_error:.1%}",
            f"{law.worst_error:.1%}",
        )
    show(table)
    show(
        f"{fit.samples} times of {fit.pairs} pairs, each predicted from the others; * the fewest "
        "parameters that these times support"
    )
    if fit.beside_memory:
        run, most = max(fit.beside_memory.items(), key=lambda item: item[1])
        show(
            f"beside a reader of memory: {min(fit.beside_memory.values()):.2f} to {most:.2f} times "
            f"the time alone ({run.network} on {run.unit})"
        )
