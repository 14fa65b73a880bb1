"""``dse certify``: prove a front, or continue a proof."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

from paretosoc.common.text import pluralize
from paretosoc.common.units import PPM
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option, refuse_options
from paretosoc.dse.cli.shared.terminal import say

if TYPE_CHECKING:
    from paretosoc.dse.certificate.branch_and_bound import SearchProgress
    from paretosoc.dse.certificate.formulation.prove import FormulationProgress
    from paretosoc.dse.cli.shared.progress import ProgressLine

NOT_SHOWN = 4
"""Exit status: HaX-CoNN's equations were asked for, and show nothing."""


def certify(
    folder: opt.Folder,
    max_nodes: opt.MaxNodes = None,
    time_limit: opt.TimeLimit = None,
    fastest: Annotated[bool, Option("--fastest", help="Certify the fastest member only.")] = False,
    formulation: Annotated[
        bool,
        Option(
            "--formulation",
            help="Certify the fastest member only, and have Z3 show it by HaX-CoNN's equations.",
        ),
    ] = False,
    jobs: opt.Jobs = None,
    dask: opt.DaskAddress = None,
    quiet: opt.Quiet = False,
) -> int:
    """Prove that a front is complete, or how far from it, and that nothing is faster.

    Exit status 4, with --formulation: HaX-CoNN's equations do not show it.
    """
    # Imported here: the help needs none of what proves.
    from paretosoc.dse.api.front import Front
    from paretosoc.dse.api.proof import prove, save_checkpoint
    from paretosoc.dse.tools.dask_cluster import SearchCluster
    from paretosoc.results.export.result_folder import REPORT_FILE, check_output_folder

    if dask is not None:
        refuse_options("is for this machine; a Dask cluster has its own workers", "jobs")
    front = Front.load(folder)
    check_output_folder(folder, overwrite=True)
    has_report = (folder / REPORT_FILE).exists()
    cluster = None if dask is None else SearchCluster(dask)
    try:
        with proof_line(quiet=quiet) as on_progress:
            proof = prove(
                front,
                time_limit_s=time_limit,
                max_nodes=max_nodes,
                fastest_only=fastest,
                formulation=formulation,
                jobs=jobs,
                cluster=cluster,
                on_progress=on_progress,
                on_checkpoint=partial(save_checkpoint, front, folder),
                on_formulation=lambda shown: on_progress.put(text=_describe_formulation(shown)),
            )
    finally:
        if cluster is not None:
            cluster.close()
    if proof is not None:
        is_new = proof.front is not front.numeric
        front = front.with_proof(proof)
        if is_new:
            front.save(folder, overwrite=True, report=has_report)
        if proof.refused is not None and not quiet:
            say(f"the front is not proved: {proof.refused}")
        if proof.not_shown is not None:
            say(f"HaX-CoNN's equations show nothing: {proof.not_shown}")
    if not quiet:
        print("\n".join(front.claims))
    if proof is not None and proof.interrupted:
        return 130
    return NOT_SHOWN if proof is not None and proof.not_shown is not None else 0


def proof_line(
    *, quiet: bool, also: Callable[[SearchProgress], None] | None = None
) -> ProgressLine[SearchProgress]:
    """Show members, nodes and epsilon of a proof as it runs. ``also`` receives its events."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    from paretosoc.dse.cli.shared.progress import ProgressLine

    return ProgressLine(
        TextColumn("proving"),
        SpinnerColumn(),
        TextColumn("{task.fields[text]}"),
        TimeElapsedColumn(),
        show=_describe_progress,
        quiet=quiet,
        also=also,
        text="",
    )


def _describe_progress(proof: SearchProgress) -> dict[str, str]:
    of = pluralize(proof.members, "member") if proof.objectives > 1 else "the fastest member"
    text = f"{of}, {pluralize(proof.nodes, 'node')}"
    if proof.epsilon_ppm is not None and proof.epsilon_ppm < PPM:
        from paretosoc.results.front.epsilon import within

        text += f", {within(proof.epsilon_ppm)}"
    return {"text": text}


def _describe_formulation(shown: FormulationProgress) -> str:
    counts = f"{pluralize(shown.parts, 'part')}, {pluralize(shown.questions, 'question')}"
    if shown.shared > 1:
        counts = f"{shown.done} of {shown.shared} parts of the space; split into {counts}"
    return f"HaX-CoNN's equations: {counts}"
