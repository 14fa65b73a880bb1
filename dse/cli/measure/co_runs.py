"""``dse measure co-runs``: how much longer networks take beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.tables import csv_text, plain_table
from paretosoc.dse.cli.measure.imported_profile import unit_names
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import say, show
from paretosoc.dse.errors import WorkloadError
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
from paretosoc.fitness.costs.network_costs import choose_units
from paretosoc.platforms.io.platform_file import load_platform


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
        _report(fit_co_runs(read_co_runs(tables)))
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
        _write(output, [(run, "") for run in runs])
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
    _write(output, [(run, f"{ms:.6f}") for run, ms in rows])
    _report(fit_co_runs(read_co_runs([output])))


def _write(output: Path, rows: Sequence[tuple[CoRun, str]]) -> None:
    cells = ((run.network, run.unit, run.beside, run.beside_unit, ms) for run, ms in rows)
    replace_file(output, csv_text(COLUMNS, cells).encode())


def _report(fit: CoRunFit) -> None:
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
