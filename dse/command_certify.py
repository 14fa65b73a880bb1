"""``dse certify`` and ``dse verify``: prove the fastest member of a front, and check the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dse.command_options import AsJson, Folder

if TYPE_CHECKING:
    from dse.exact_search import Proof
    from results.front import CertificateClaim

MaxNodes = Annotated[
    int | None,
    typer.Option(
        "--max-nodes",
        min=1,
        help="Nodes of the proof's search, then the gap. [default: 40 million / groups]",
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Prove that no design point is faster than the front's fastest; goes on where it was ended."""
    from dse import certify as proofs
    from results.certificate import CertificateStatus
    from results.front_file import read_certificate, read_costs, read_results, write_results

    front = read_results(folder)
    found = read_certificate(folder, front.problem)
    earlier = None if found is None else found[0]
    if earlier is not None and earlier.status is not CertificateStatus.GAP:
        if not quiet and front.certificate is not None:
            print(claim_in_words(front.certificate))
        return
    with ProofProgress(quiet=quiet) as on_progress:
        result = proofs.certify(
            front,
            most_nodes=max_nodes,
            time_limit_s=time_limit,
            earlier=earlier,
            on_progress=on_progress,
        )
    write_results(
        folder,
        result.front,
        costs=read_costs(folder, front.problem),
        certificate=result.certificate,
        smtlib=result.smtlib,
        overwrite=True,
    )
    if not quiet and result.front.certificate is not None:
        print(claim_in_words(result.front.certificate))


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


def claim_in_words(claim: CertificateClaim) -> str:
    """What is proved of a front's best member, in a sentence or two."""
    if claim.objective == "latency_ps":
        value, bound = f"{claim.optimum / 1e9:.6f} ms", f"{claim.bound / 1e9:.6f} ms"
        relation = "is faster than"
    else:
        value, bound = (f"{-v / 1e6:.3f} inferences/s" for v in (claim.optimum, claim.bound))
        relation = "is better than"
    size = f"{claim.lemmas:,} lemmas, {claim.nodes:,} nodes, {claim.seconds:.2f} s"
    match claim.status.value:
        case "certified":
            return (
                f"certified: no design point {relation} member {claim.member} ({value}); {size}, "
                f"covered by {', '.join(claim.solvers)}. Space: {claim.space}."
            )
        case "searched":
            return (
                f"searched: no design point {relation} member {claim.member} ({value}) by the "
                f"search's own account; {size}, too many to be covered. Space: {claim.space}."
            )
    gap = abs(claim.optimum - claim.bound) / abs(claim.optimum) if claim.optimum else 0.0
    return (
        f"gap: member {claim.member} has {value}, no design point {relation} {bound} "
        f"(gap {gap:.1%}); {size}. 'dse certify' goes on. Space: {claim.space}."
    )


class ProofProgress:
    """A line on stderr with nodes, lemmas, bound and gap; nothing if quiet."""

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
        told = f"{proof.nodes:,} nodes, {proof.lemmas:,} lemmas"
        if proof.best is not None and proof.best:
            gap = max(0.0, (proof.best - proof.bound) / abs(proof.best))
            told += f", gap {gap:.2%}"
        self._bar.update(self._task, told=told)
