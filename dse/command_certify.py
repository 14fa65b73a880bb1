"""``dse certify`` and ``dse verify``: prove a front, and check the proof."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dse.command_options import AsJson, Folder
from results.objectives import objective_names, objective_unit, objective_value
from results.problem import Objective, ObjectiveKind, Problem

if TYPE_CHECKING:
    from dse.exact_search import Proof
    from dse.front_proof import Goal
    from results.front import CertificateClaim, Front

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
    from dse.front_proof import Goal, prove_front
    from results.front_file import read_certificate, read_costs, read_results, write_results

    front = read_results(folder)
    earlier = read_certificate(folder, front.problem)
    goal = Goal.FASTEST if fastest else Goal.WHOLE_FRONT
    if is_reached(front, goal):
        if not quiet:
            print("\n".join(claims_in_words(front)))
        return 0
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
    """Check a result folder without trusting it; exit status 1 where something does not hold."""
    from dse.verify import verify as checks

    rows: list[dict[str, Any]] = []
    for check in checks(folder, ignore_hashes=ignore_hashes):
        rows.append({"check": check.name, "holds": check.holds, "detail": check.detail})
        if not as_json:
            print(f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.detail}")
    if as_json:
        import json

        print(json.dumps(rows, indent=2))
    return 0 if all(row["holds"] for row in rows) else 1


def claims_in_words(front: Front) -> list[str]:
    """What is proved of a front, a sentence or two for each certificate."""
    return [
        claim_in_words(front.problem, claim, front.members[claim.members[0]].objectives)
        for claim in (front.certificate, front.epsilon)
        if claim is not None
    ]


def claim_in_words(problem: Problem, claim: CertificateClaim, best: Sequence[int]) -> str:
    """What is proved; ``best``: the objectives of the first member that it is about."""
    from results.certificate import CertificateStatus
    from results.epsilon import least_within, percent

    size = f"{claim.lemmas:,} lemmas, {claim.nodes:,} nodes, {claim.seconds:.2f} s"
    space = f"Space: {claim.space}."
    how = f"{size}, covered by {', '.join(claim.solvers)}. {space}"
    if claim.status is CertificateStatus.SEARCHED:
        how = f"by the search's own account; {size}, too many to be covered. {space}"
    epsilon = claim.epsilon_ppm
    if len(claim.objectives) > 1:
        if claim.status is CertificateStatus.GAP:
            how = f"by the search's own account; {size}. 'dse certify' goes further. {space}"
        if epsilon == 0:
            return f"complete: no design point is missing from the {len(claim.members)}; {how}"
        return (
            f"within {percent(epsilon)}: for every design point a member is worse in no objective "
            f"by more; {how}"
        )
    names = objective_names(problem)
    column = names.index(claim.objectives[0])
    value = _value_in_words(problem.objectives[column], best[column])
    is_time = problem.objectives[column].kind is ObjectiveKind.LATENCY
    relation = "is faster than" if is_time else "is better than"
    if claim.status is CertificateStatus.GAP:
        bound = "no known bound"
        if epsilon is not None:
            bound = _value_in_words(problem.objectives[column], least_within(best[column], epsilon))
        return (
            f"gap: member {claim.members[0]} has {value}, no design point {relation} {bound} "
            f"(gap {percent(epsilon)}); {size}. 'dse certify' goes on. {space}"
        )
    status = claim.status.value
    return f"{status}: no design point {relation} member {claim.members[0]} ({value}); {how}"


def _value_in_words(objective: Objective, value: int) -> str:
    digits = 6 if objective.kind is ObjectiveKind.LATENCY else 3
    return f"{objective_value(objective, value):.{digits}f} {objective_unit(objective)}"


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

        told = f"{proof.members} members, {proof.nodes:,} nodes, {proof.lemmas:,} lemmas"
        if proof.epsilon_ppm is not None and proof.epsilon_ppm < PPM:
            told += f", within {percent(proof.epsilon_ppm)}"
        self._bar.update(self._task, told=told)
