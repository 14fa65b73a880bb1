"""The exact search and its proof: nodes, leaves, bytes and seconds of search, checkers and Z3.

Each instance is searched from nothing, then from its optimum, as a run does that already has it.
The tree of the second search is checked by the fast checker, if it is small also by the plain one,
Z3 (writing and reading the formula included), and Z3 by HaX-CoNN's equations. OR-tools CP-SAT, if
the extra ``benchmarks`` is installed, solves the contention-free sibling of each instance:
:mod:`benchmarks.oracles.job_shop`.

Usage: ``python -m benchmarks.certificate [--json] [--time-limit S] [--only TEXT]
[--against COMMIT]``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.harness.against import shown_against
from benchmarks.harness.instances import measure_chosen
from benchmarks.harness.report import Column, show
from benchmarks.harness.timing import timed
from benchmarks.oracles.job_shop import has_solver, solve_job_shop
from benchmarks.problems.reference_problem import DLA_CONTENTION, GPU_CONTENTION, reference_problem
from paretosoc.common.deadline import Deadline
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.certificate.cover.leaves import leaf_table
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib, prove_cover
from paretosoc.dse.certificate.formulation.prove import prove_formulation
from paretosoc.dse.certificate.formulation.refute import NotShown
from paretosoc.dse.certificate.improve import FastestResult, find_fastest
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.contention import contention_table
from paretosoc.results.front.proof_tree import ProofTree, tree_bytes
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import DesignPoint, Problem

SEED = 1
TIME_LIMIT_S = 30.0
FORMULATION_PARTS = 128
"""A proof by Eq. 1 to 11 of as many parts is not tried."""
PLAIN_LEMMAS, COVERED_LEMMAS = 100_000, 60_000
"""More are not checked by the plain checker, or not given to Z3."""
SHORT_S = 0.2
"""A shorter run is repeated, and the shortest time taken."""
REPETITIONS = 20
COLUMNS = (
    Column("instance", "instance"),
    Column("networks", "networks", in_table=False),
    Column("groups", "groups", ","),
    Column("units", "units", in_table=False),
    Column("best_ms", "best ms", ",.6f"),
    Column("bound_ms", "bound ms", ",.6f", in_table=False),
    Column("gap", "gap", ".2%"),
    Column("first_s", "from nothing s", ",.4f"),
    Column("first_nodes", "nodes", ","),
    Column("proof_s", "from best s", ",.4f"),
    Column("proof_nodes", "nodes", ","),
    Column("lemmas", "lemmas", ","),
    Column("tree_bytes", "bytes", ","),
    Column("fast_s", "fast check s", ",.3f"),
    Column("plain_s", "plain check s", ",.2f"),
    Column("holds", "holds"),
    Column("cover_s", "Z3 s", ",.3f"),
    Column("cover", "says"),
    Column("formulation_s", "Eq. 1-11 s", ",.2f"),
    Column("required_s", "required s", ",.3f"),
    Column("fulfilled", "met"),
    Column("job_shop_s", "CP-SAT s", ",.3f"),
    Column("job_shop_ms", "its optimum ms", ",.6f"),
)


@dataclass(frozen=True)
class Instance:
    """``required_s``: the time that the search from the best known may take."""

    name: str
    required_s: float
    make: Callable[[], Problem]


@dataclass(frozen=True)
class Measured:
    """One row. None: not reached, not asked for, or no solver there."""

    instance: str
    networks: int
    groups: int
    units: int
    best_ms: float | None
    bound_ms: float
    gap: float | None
    first_s: float
    first_nodes: int
    proof_s: float
    proof_nodes: int
    lemmas: int
    tree_bytes: int
    fast_s: float | None
    plain_s: float | None
    holds: bool | None
    """Whether all checkers that ran accept the tree."""
    cover_s: float | None
    cover: str | None
    formulation_s: float | None
    """Seconds of the proof by Eq. 1 to 11, None if it is not tried on a problem of this size."""
    required_s: float
    fulfilled: bool
    job_shop_s: float | None
    job_shop_ms: float | None


def random_chains(
    networks: int, groups: int, units: int, *, max_transitions: int, seed: int = SEED
) -> Problem:
    """Return chains in the spirit of the reference problem, with one operating point.

    The first unit is fast. Others take 1.1 to 2.5 times as long and ask for less bandwidth.
    Transitions take 2 to 20 us. The first unit suffers contention as a GPU, the others as a DLA.
    """
    rng = np.random.default_rng(seed)
    count = networks * groups
    fast = rng.uniform(0.1, 0.6, count)
    factor = np.ones((count, units))
    factor[:, 1:] = rng.uniform(1.1, 2.5, (count, units - 1))
    demand = rng.uniform(15e6, 90e6, count)
    edges = tuple((g, g + 1) for g in range(count - 1) if (g + 1) % groups)
    transition = rng.integers(2_000_000, 20_000_000, (len(edges), units, units))
    transition[:, np.arange(units), np.arange(units)] = 0
    names = ["gpu", *(f"dla{u}" for u in range(units - 1))]
    return Problem(
        networks=tuple(
            ProblemNetwork(
                name=f"network{n}",
                first_group=n * groups,
                group_names=tuple(f"g{g}" for g in range(groups)),
                max_transitions=max_transitions,
            )
            for n in range(networks)
        ),
        edges=edges,
        transition_ps=transition.astype(np.int64),
        domains=tuple(
            ProblemDomain(
                name=name,
                frequencies_khz=(1_000_000,),
                voltages_mv=(None,),
                may_be_off=False,
                static_mw=np.zeros(1, dtype=np.int64),
                allowed=np.ones(1, dtype=np.bool_),
            )
            for name in names
        ),
        units=tuple(
            ProblemUnit(
                name=name,
                clocks=(u,),
                time_ps=(fast * factor[:, u] * PS_PER_MS).astype(np.int64)[:, None],
                demand_kbps=(demand / factor[:, u]).astype(np.int64)[:, None],
                dynamic_mw=np.zeros((count, 1), dtype=np.int64),
                idle_mw=np.zeros(1, dtype=np.int64),
                contention=contention_table(
                    DLA_CONTENTION if u else GPU_CONTENTION, [Fraction(1)], [int(demand.max())]
                ),
            )
            for u, name in enumerate(names)
        ),
        memory_domain=None,
        board_mw=0,
        allowed=np.ones((count, units), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )


def two_deep_networks(*, max_transitions: int) -> Problem:
    """Return Inception-ResNet-v2 with ResNet-152 on Xavier's GPU and a DLA.

    All clocks are at their maximum, and every legal cut is made.
    """
    from paretosoc.dse.problem.build import build_problem
    from paretosoc.dse.workload.options import Options
    from paretosoc.dse.workload.workload import workload_of
    from paretosoc.platforms.io.platform_file import load_platform

    platform = load_platform("jetson-agx-xavier")
    options = Options(
        units=("gpu", "dla0"),
        fixed=tuple((domain.name, "max") for domain in platform.domains),
        max_transitions=((None, max_transitions),),
    )
    workload = workload_of(["inception_resnet_v2", "resnet152"])
    return build_problem(workload, platform, options).problem


INSTANCES = (
    Instance("reference, 1 clock, any transitions", 0.005, lambda: reference_problem(points=False)),
    Instance("reference, 14 x 4 clocks, any transitions", 0.1, reference_problem),
    Instance(
        "2 x 10 groups, 2 units, 1 transition",
        0.1,
        lambda: random_chains(2, 10, 2, max_transitions=1),
    ),
    Instance(
        "2 x 30 groups, 2 units, 2 transitions",
        0.5,
        lambda: random_chains(2, 30, 2, max_transitions=2),
    ),
    Instance(
        "3 x 12 groups, 3 units, 2 transitions",
        10.0,
        lambda: random_chains(3, 12, 3, max_transitions=2),
    ),
    Instance(
        "Inception-ResNet-v2 + ResNet-152, 1 transition",
        0.3,
        lambda: two_deep_networks(max_transitions=1),
    ),
    Instance(
        "Inception-ResNet-v2 + ResNet-152, 3 transitions",
        10.0,
        lambda: two_deep_networks(max_transitions=3),
    ),
)


def measure(instance: Instance, *, time_limit_s: float = TIME_LIMIT_S) -> Measured:
    """Measure one instance, every part under the time limit.

    Raises:
        AssertionError: if two searches of the same problem disagree.
    """
    problem = instance.make()
    first, first_s = _timed_search(problem, None, time_limit_s)
    proof, proof_s = _timed_search(problem, first.best_value, time_limit_s)
    best = proof.best_value
    if first.complete and proof.complete and (best != first.best_value or proof.best is not None):
        raise AssertionError(f"{instance.name}: {first.best_value} ps, then {best} ps")
    # A search that did not end proves less than the other one may have.
    bound = max(first.bound, proof.bound)
    checked = Checked()
    if best is not None and proof.complete:
        claim = LemmaTarget((0,), ((best,),), prices=proof.prices)
        checked = checks_of(problem, proof.tree, claim, time_limit_s)
    shop = solve_job_shop(problem, time_limit_s=time_limit_s) if has_solver() else None
    return Measured(
        instance=instance.name,
        networks=len(problem.networks),
        groups=problem.group_count,
        units=len(problem.units),
        best_ms=None if best is None else best / PS_PER_MS,
        bound_ms=bound / PS_PER_MS,
        gap=None if best is None else (best - bound) / best,
        first_s=first_s,
        first_nodes=first.nodes,
        proof_s=proof_s,
        proof_nodes=proof.nodes,
        lemmas=proof.tree.leaves,
        tree_bytes=len(tree_bytes(proof.tree)),
        fast_s=checked.fast_s,
        plain_s=checked.plain_s,
        holds=checked.holds,
        cover_s=checked.cover_s,
        cover=checked.cover,
        formulation_s=_formulation_s(problem, first.best, best),
        required_s=instance.required_s,
        fulfilled=proof.complete and proof_s <= instance.required_s,
        job_shop_s=None if shop is None else shop.seconds,
        job_shop_ms=None
        if shop is None or shop.optimum_ps is None
        else shop.optimum_ps / PS_PER_MS,
    )


@dataclass(frozen=True)
class Checked:
    """Checks of one tree. None: not asked."""

    fast_s: float | None = None
    plain_s: float | None = None
    holds: bool | None = None
    cover_s: float | None = None
    cover: str | None = None


def checks_of(
    problem: Problem, tree: ProofTree, claim: LemmaTarget, time_limit_s: float
) -> Checked:
    """Run the fast checker, and for small trees the plain one and Z3."""
    fault, fast_s = timed(lambda: check_tree(problem, tree, claim).fault)
    faults, plain_s, cover, cover_s = [fault], None, None, None
    if tree.leaves <= PLAIN_LEMMAS:
        fault, plain_s = timed(lambda: check_tree(problem, tree, claim, plain=True).fault)
        faults.append(fault)
    if tree.leaves <= COVERED_LEMMAS:
        lemmas = leaf_table(problem, tree, claim)
        cover, cover_s = timed(
            lambda: prove_cover(cover_smtlib(problem, lemmas), timeout_s=time_limit_s).verdict
        )
    return Checked(fast_s, plain_s, faults == [None] * len(faults), cover_s, cover)


def _formulation_s(problem: Problem, fastest: DesignPoint | None, best: int | None) -> float | None:
    if fastest is None or best is None:
        return None
    try:
        return prove_formulation(problem, fastest, best, max_parts=FORMULATION_PARTS).seconds
    except NotShown:
        return None


def _timed_search(
    problem: Problem, known_ps: int | None, time_limit_s: float
) -> tuple[FastestResult, float]:
    def search() -> FastestResult:
        return find_fastest(problem, known=known_ps, until=Deadline.after(time_limit_s))

    return timed(search, short_s=SHORT_S, repetitions=REPETITIONS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    compared = [column for column in COLUMNS if column.key in ("first_s", "proof_s")]
    if shown_against("benchmarks.certificate", ["instance"], compared, arguments):
        return
    chosen, rows = measure_chosen(
        "benchmarks.certificate",
        "The exact search and its proof, all cores.",
        INSTANCES,
        lambda instance, options: measure(instance, time_limit_s=options.time_limit),
        time_limit_s=TIME_LIMIT_S,
        limits="each part",
        load=load_proof_code,
        arguments=arguments,
    )
    notes = [
        f"Every part ends after {chosen.time_limit:g} s; a gap above 0: the search did not end.",
        f"Checks of a search that ended: the plain one of at most {PLAIN_LEMMAS:,} lemmas; Z3, with"
        f" the writing of the formula, of {COVERED_LEMMAS:,}; unsat: nothing is left out.",
        "CP-SAT solves another, easier problem: no contention, any order of the groups, idling"
        " allowed, the smallest times over all clocks, whole nanoseconds; one worker.",
    ]
    if not has_solver():
        notes.append("CP-SAT: not installed; pip install 'paretosoc[benchmarks]'.")
    show("Certificates of the fastest point", COLUMNS, rows, as_json=chosen.json, notes=notes)


if __name__ == "__main__":
    main()
