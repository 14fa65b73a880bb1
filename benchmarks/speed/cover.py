"""One formula that the leaves of a tree leave nothing out: Z3 beside CaDiCaL with its proof.

The formula is that of ``certificate.smt2``: clauses, which CaDiCaL reads, too, and refutes with a
DRUP proof that anyone can check. The tree itself, which a checker walks, stands beside them. CPU
seconds are of one thread. CaDiCaL needs ``python-sat`` (extra ``benchmarks``).

Usage: ``python -m benchmarks.speed.cover [--json] [--time-limit S] [--only TEXT]``.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from benchmarks.certificate import random_chains
from benchmarks.exact_front import xavier_pair
from benchmarks.harness.instances import measure_chosen
from benchmarks.harness.report import Column, show
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.certificate.branch_and_bound import Incumbents, find_front
from paretosoc.dse.certificate.cover.leaves import leaf_table
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib, prove_cover
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.results.front.proof_tree import tree_bytes
from paretosoc.results.problem.problem import Problem

TIME_LIMIT_S = 60.0
MB = 1e6
COLUMNS = (
    Column("instance", "instance"),
    Column("lemmas", "lemmas", ","),
    Column("tree_mb", "tree MB", ",.3f"),
    Column("check_s", "fast check CPU-s", ",.2f"),
    Column("formula_mb", "formula MB", ",.1f"),
    Column("write_s", "to write it CPU-s", ",.1f"),
    Column("z3_s", "Z3 CPU-s", ",.2f"),
    Column("sat_s", "CaDiCaL CPU-s", ",.2f"),
    Column("proof_s", "with proof CPU-s", ",.2f"),
    Column("proof_mb", "proof MB", ",.1f"),
)


@dataclass(frozen=True)
class Instance:
    """``best_only``: the proof is of the first objective's best member, not of the front."""

    name: str
    make: Callable[[], Problem]
    best_only: bool = False
    tolerance_ppm: int = 0


INSTANCES = (
    Instance("reference front, 2 transitions", partial(reference_problem, max_transitions=2)),
    Instance("reference front, any transitions", reference_problem),
    Instance(
        "2 x 30 groups, fastest",
        partial(random_chains, 2, 30, 2, max_transitions=2),
        best_only=True,
    ),
    Instance(
        "3 x 12 groups, fastest",
        partial(random_chains, 3, 12, 3, max_transitions=2),
        best_only=True,
    ),
    Instance(
        "Xavier, front within 5 %",
        partial(xavier_pair, units=("gpu", "dla0", "cpu")),
        tolerance_ppm=50_000,
    ),
)


@dataclass(frozen=True)
class Measured:
    """One row. None: no answer in time, or no solver there."""

    instance: str
    lemmas: int
    tree_mb: float
    check_s: float
    formula_mb: float
    write_s: float
    z3_s: float | None
    sat_s: float | None
    proof_s: float | None
    proof_mb: float | None


def measure(instance: Instance, *, time_limit_s: float = TIME_LIMIT_S) -> Measured:
    """Measure one instance, each solver under the time limit.

    Raises:
        AssertionError: if a checker or a solver refutes the proof.
    """
    problem = instance.make()
    columns = (0,) if instance.best_only else tuple(range(len(problem.objectives)))
    search = partial(find_front, problem, objectives=columns, tolerance_ppm=instance.tolerance_ppm)
    found = search()
    result = search(known=Incumbents(found.objectives, found.rows))
    members = tuple(map(tuple, result.objectives.tolist()))
    claim = LemmaTarget(columns, members, instance.tolerance_ppm, result.prices)
    began = time.process_time()
    assert check_tree(problem, result.tree, claim).fault is None
    check_s = time.process_time() - began
    began = time.process_time()
    text = cover_smtlib(problem, leaf_table(problem, result.tree, claim))
    write_s = time.process_time() - began
    clauses = clauses_of(text)
    sat = _solved(clauses, time_limit_s, with_proof=False)
    proof = None if sat is None else _solved(clauses, time_limit_s, with_proof=True)
    return Measured(
        instance=instance.name,
        lemmas=result.tree.leaves,
        tree_mb=len(tree_bytes(result.tree)) / MB,
        check_s=check_s,
        formula_mb=len(text) / MB,
        write_s=write_s,
        z3_s=_z3_s(text, time_limit_s),
        sat_s=None if sat is None else sat[0],
        proof_s=None if proof is None else proof[0],
        proof_mb=None if proof is None else proof[1] / MB,
    )


def clauses_of(text: str) -> list[list[int]]:
    """Return the clauses of a cover formula. Variables are numbered from 1 in their order."""
    names: dict[str, int] = {}
    clauses: list[list[int]] = []
    for line in text.splitlines():
        if line.startswith("(declare-const "):
            names[line.split()[1]] = len(names) + 1
        elif line.startswith("(assert "):
            literals = re.findall(r"\(not (\w+)\)|(\w+)", line[len("(assert ") :])
            clauses.append(
                [-names[no] if no else names[yes] for no, yes in literals if no or yes in names]
            )
    return clauses


def _z3_s(text: str, time_limit_s: float) -> float | None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    verdict = prove_cover(text, timeout_s=time_limit_s).verdict
    assert verdict != "sat"
    taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return taken if verdict == "unsat" else None


def _solved(
    clauses: Sequence[Sequence[int]], time_limit_s: float, *, with_proof: bool
) -> tuple[float, int] | None:
    """Return CaDiCaL's seconds, and the size of its proof, from a process that can be ended."""
    if find_spec("pysat") is None:
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        asked = pool.apply_async(refute, (clauses, with_proof))
        try:
            return asked.get(time_limit_s)
        except multiprocessing.TimeoutError:
            return None


def refute(clauses: Sequence[Sequence[int]], with_proof: bool) -> tuple[float, int]:
    """Return CaDiCaL's seconds, and the bytes of its proof, 0 without one."""
    from pysat.solvers import Cadical195

    began = time.process_time()
    with Cadical195(bootstrap_with=clauses, with_proof=with_proof) as solver:
        assert solver.solve() is False
        seconds = time.process_time() - began
        return seconds, sum(len(line) + 1 for line in solver.get_proof()) if with_proof else 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    chosen, rows = measure_chosen(
        "benchmarks.speed.cover",
        "Trees as formulas: Z3, and CaDiCaL with a proof.",
        INSTANCES,
        lambda instance, options: measure(instance, time_limit_s=options.time_limit),
        time_limit_s=TIME_LIMIT_S,
        limits="each solver",
        load=load_proof_code,
        arguments=arguments,
    )
    notes = [f"-: no answer within {chosen.time_limit:g} s, or python-sat is not installed."]
    show("Cover of trees as formulas", COLUMNS, rows, as_json=chosen.json, notes=notes)


if __name__ == "__main__":
    main()
