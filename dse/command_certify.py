"""``dse certify`` and ``dse verify``: prove a front, and check the proof."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dse.command_options import AsJson, Folder
from results.counted import counted

if TYPE_CHECKING:
    from dse.exact_search import Proof
    from dse.front_proof import Goal
    from results.front import Front

MaxNodes = Annotated[
    int | None,
    typer.Option(
        "--max-nodes",
        min=1,
        help="Nodes of each of the proof's searches. [default: 40 million / groups]",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("certify")(certify)
    app.command("verify")(verify)


def certify(
    folder: Folder,
    max_nodes: MaxNodes = None,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Most seconds.")] = None,
    fastest: Annotated[
        bool, typer.Option("--fastest", help="Only that nothing is faster than the fastest.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> int:
    """Prove that a front is complete, or how far from it, and that nothing is faster."""
    from dse.certify import MOST_LEMMAS, Limits
    from dse.claim_words import claims_in_words
    from dse.compilation import tell_of_compiling
    from dse.front_proof import Goal, prove_front
    from results.front_file import read_certificate, read_costs, read_results, write_results

    front = read_results(folder)
    earlier = read_certificate(folder, front.problem)
    goal = Goal.FASTEST if fastest else Goal.WHOLE_FRONT
    # A claim whose certificate is lost is proved anew.
    if earlier is not None and is_reached(front, goal):
        if not quiet:
            print("\n".join(claims_in_words(front)))
        return 0
    tell_of_compiling()
    with ProofProgress(quiet=quiet) as on_progress:
        proof = prove_front(
            front,
            goal=goal,
            limits=Limits(max_nodes, time_limit),
            front_lemmas=MOST_LEMMAS,
            earlier=earlier,
            on_progress=on_progress,
        )
    write_results(
        folder,
        proof.front,
        costs=read_costs(folder, front.problem),
        certificate=proof.certificate,
        epsilon=proof.epsilon,
        overwrite=True,
    )
    if proof.refused is not None and not quiet:
        print(f"dse: the front is not proved: {proof.refused}", file=sys.stderr)
    if not quiet:
        print("\n".join(claims_in_words(proof.front)))
    return 130 if proof.interrupted else 0


def verify(
    folder: Folder,
    ignore_hashes: Annotated[
        bool, typer.Option("--ignore-hashes", help="Check the claims of files that were changed.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check what a result folder claims, without trusting it.

    Exit status 0: all of it holds; 1: something does not; 4: something was not checked.
    """
    from dse.mobile_i.verify import verify_periodic
    from dse.verify import Verdict, exit_status, summary
    from dse.verify import verify as verify_front
    from results.periodic_file import holds_periodic

    done = []
    verify_folder = verify_periodic if holds_periodic(folder) else verify_front
    for check in verify_folder(folder, ignore_hashes=ignore_hashes):
        done.append(check)
        if not as_json:
            said = check.verdict.value
            said = said if check.verdict is Verdict.HOLDS else said.upper()
            print(f"{said:<11}  {check.name}: {check.detail}")
    if as_json:
        import json

        rows = [
            {"check": check.name, "verdict": check.verdict.value, "detail": check.detail}
            for check in done
        ]
        print(json.dumps(rows, indent=2))
    else:
        print(summary(done))
    return exit_status(done)


def is_reached(front: Front, goal: Goal) -> bool:
    """Whether there is nothing more to prove."""
    from dse.front_proof import Goal
    from results.certificate import CertificateStatus

    claim = front.certificate
    if claim is None or claim.status is CertificateStatus.GAP:
        return False
    return goal is Goal.FASTEST or len(claim.objectives) == len(front.problem.objectives)


class ProofProgress:
    """A line on stderr with members, nodes, lemmas and epsilon; nothing if quiet."""

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("proving"),
            SpinnerColumn(),
            TextColumn("{task.fields[told]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=quiet,
        )
        self._task = self._bar.add_task("", total=None, told="")

    def __enter__(self) -> ProofProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, proof: Proof) -> None:
        from results.epsilon import PPM, percent

        of = counted(proof.members, "member") if proof.objectives > 1 else "the fastest member"
        told = f"{of}, {counted(proof.nodes, 'node')}, {counted(proof.lemmas, 'lemma')}"
        if proof.epsilon_ppm is not None and proof.epsilon_ppm < PPM:
            told += f", within {percent(proof.epsilon_ppm)}"
        self._bar.update(self._task, told=told)
