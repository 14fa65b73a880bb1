"""``dse report`` and ``dse analyze export``: a result as a page, or in the forms of other
programs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import busy, say
from paretosoc.dse.errors import WorkloadError
from paretosoc.results.errors import ResultError


def report(
    folder: opt.Folder,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Output file. [default: DIR/report.html]")
    ] = None,
    platform: opt.BoardFile = None,
    force: opt.Force = False,
) -> None:
    """Write the front, its schedules and its proof as one page that needs no network."""
    from paretosoc.common.files import file_in, replace_file
    from paretosoc.dse.api.result import open_result
    from paretosoc.dse.inputs.output import check_output_file
    from paretosoc.results.export.result_folder import REPORT_FILE

    result = open_result(folder)
    path = file_in(folder, REPORT_FILE, ResultError) if output is None else output
    check_output_file(path, overwrite=force or output is None, suffixes=(".html",))
    with busy("simulating members with costs drawn from their errors"):
        page, notes = result.page(platform)
    replace_file(path, page)
    for note in notes:
        say(note)
    print(f"Written to {path}: {pluralize(len(result), 'member')}, {len(page) / 1e6:.2f} MB")


class Target(Enum):
    """The programs that read what is written."""

    PERFETTO = "perfetto"
    MODEL_EXPLORER = "model-explorer"
    OPTUNA = "optuna"


SUFFIXES = {
    Target.PERFETTO: (".json",),
    Target.MODEL_EXPLORER: (".json",),
    Target.OPTUNA: (".db", ".sqlite3"),
}


def export(
    folder: opt.Folder,
    to: Annotated[
        Target,
        Option(
            "--to",
            help="perfetto: schedules in the Trace Event Format; model-explorer: unit and time of "
            "every layer, as node data; optuna: the front as a study (needs the extra 'optuna').",
        ),
    ],
    output: Annotated[
        Path,
        Option(
            "--output",
            "-o",
            help="Output file. Model Explorer's are one per network: FILE.NETWORK.json.",
        ),
    ],
    member: Annotated[
        list[str] | None,
        Option(
            "--member",
            help="Member: an index, or a name such as fastest, knee or lowest-energy. "
            "Repeatable for perfetto. [default: fastest]",
        ),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Write a result for another program: Perfetto, Model Explorer or Optuna."""
    from paretosoc.common.files import replace_file
    from paretosoc.dse.api.result import open_result
    from paretosoc.dse.inputs.output import check_output_file
    from paretosoc.results.front.named_members import FASTEST

    check_output_file(output, overwrite=force, suffixes=SUFFIXES[to])
    if to is not Target.PERFETTO and len(member or []) > 1:
        raise WorkloadError(f"--member: one is written for {to.value}, got several")
    if to is Target.OPTUNA and member:
        raise WorkloadError("--member: a study has all members")
    if to is Target.PERFETTO:
        data, titles = open_result(folder).trace(member or [FASTEST])
        replace_file(output, data)
        print(f"Written to {output}: {', '.join(titles)}")
        return
    # Imported here: the help needs no fronts.
    from paretosoc.dse.api.front import Front

    front = Front.load(folder)
    if to is Target.OPTUNA:
        front.to_optuna(output, folder.resolve().name)
        print(f"Written to {output}: {pluralize(len(front), 'trial')}")
        return
    which = (member or [FASTEST])[0]
    for network, data in front.node_data(which).items():
        # A model's own node data are loaded beside the model: one file for each.
        file = output.with_name(f"{output.stem}.{network}{output.suffix}")
        check_output_file(file, overwrite=force)
        replace_file(file, data)
        print(f"Written to {file}: {network} of member {front[which].index}")
